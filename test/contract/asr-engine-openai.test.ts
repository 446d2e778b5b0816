import { expect, onTestFinished, test } from 'vitest';
import { OpenAiAsr, type OpenAiAsrSettings } from '../../media-worker/asr/engines/openai-asr.ts';
import { createOutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import { resolveWithSystem } from '../../shared/outgoing/system-resolver.ts';
import { eventually } from '../support/eventually.ts';
import { OpenAiAsrStub } from '../support/openai-asr-stub.ts';
import { tone } from '../support/pitch.ts';
import { collect, frames, queued } from './asr-engine.contract.ts';

const SECOND = tone(440, 1_000, 16_000);

async function setUp(settings: Partial<OpenAiAsrSettings> = {}, keyterms: readonly string[] = []) {
  const stub = new OpenAiAsrStub();
  const baseUrl = await stub.start();
  const http = createOutgoingClient({ resolve: resolveWithSystem, allowHosts: [stub.host] });
  onTestFinished(async () => {
    await http.close();
    await stub.stop();
  });
  const engine = new OpenAiAsr(
    { http },
    { baseUrl: `${baseUrl}/`, apiKey: 'secret', model: 'whisper-1', ...settings },
  );
  return { stub, session: await engine.open({ language: 'de', keyterms }) };
}

test('the whole utterance goes out as one WAV file, with model, language and the words to expect', async () => {
  const { stub, session } = await setUp({}, ['Parley', 'Ava']);

  await collect(session, queued(frames(SECOND)));

  expect(stub.requests).toHaveLength(1);
  expect(stub.requests[0]).toMatchObject({
    path: '/v1/audio/transcriptions',
    authorization: 'Bearer secret',
    fields: { model: 'whisper-1', language: 'de', response_format: 'json', prompt: 'Parley, Ava' },
    sampleRateHz: 16_000,
  });
  expect(stub.requests[0]?.samples).toEqual(SECOND);
});

test('no hint, key or stream is sent where there is none', async () => {
  const { stub, session } = await setUp({ apiKey: null });

  await collect(session, queued(frames(SECOND)));

  expect(Object.keys(stub.requests[0]?.fields ?? {})).toEqual(['model', 'language', 'response_format']);
  expect(stub.requests[0]?.authorization).toBeNull();
});

test('less than 100 ms of sound is not worth a request', async () => {
  const { stub, session } = await setUp();

  const heard = await collect(session, queued(frames(SECOND.slice(0, 1_440))));

  expect(heard).toMatchObject([{ text: '', isFinal: true }]);
  expect(stub.requests).toHaveLength(0);
});

test('of an endless utterance the first two minutes are sent', async () => {
  const { stub, session } = await setUp();
  const audio = queued([], { isEnded: false });
  const heard = collect(session, audio);

  for (let second = 0; second < 130; second++) {
    for (const frame of frames(SECOND, second * 1_000)) audio.push(frame);
    await new Promise((resolve) => setImmediate(resolve));
  }
  audio.end();

  expect((await heard).at(-1)?.endMs).toBe(120_000);
  expect(stub.requests[0]?.samples).toHaveLength(120 * 16_000);
});

test('streaming: the text comes piece by piece, the final as the service gives it', async () => {
  const { stub, session } = await setUp({ streams: true });
  stub.answer = () => ({
    events: [
      { type: 'transcript.text.delta', delta: 'Guten' },
      { type: 'transcript.text.delta', delta: ' Tag' },
      { type: 'transcript.text.done', text: 'Guten Tag!' },
    ],
  });

  const heard = await collect(session, queued(frames(SECOND)));

  expect(stub.requests[0]?.fields['stream']).toBe('true');
  expect(heard.filter((t) => !t.isFinal).map((t) => t.text)).toEqual(
    expect.arrayContaining(['Guten', 'Guten Tag']),
  );
  expect(heard.at(-1)).toMatchObject({ text: 'Guten Tag!', isFinal: true });
});

test('streaming: a service that does not know it may answer at once', async () => {
  const { stub, session } = await setUp({ streams: true });
  stub.answer = () => ({ status: 200, json: { text: 'Guten Tag' } });

  expect((await collect(session, queued(frames(SECOND)))).at(-1)).toMatchObject({
    text: 'Guten Tag',
    isFinal: true,
  });
});

test.each([
  ['a stream that breaks off', true, { events: [{ type: 'transcript.text.delta', delta: 'Gu' }] }],
  ['an answer without a text', false, { status: 200, json: { words: [] } }],
  ['a refusal', false, { status: 401, json: { error: 'no' } }],
  ['no answer in time', false, 'never' as const],
])('%s is an upstream failure', async (_case, streams, answer) => {
  const { stub, session } = await setUp({ streams, finalDeadlineMs: 100 });
  stub.answer = () => answer;

  await expect(collect(session, queued(frames(SECOND)))).rejects.toMatchObject({
    kind: 'upstream_failed',
  });
});

test('aborting while the text is waited for ends the iteration and frees the connection within 50 ms', async () => {
  const { stub, session } = await setUp();
  stub.answer = () => 'never';
  const stop = new AbortController();
  const heard = collect(session, queued(frames(SECOND)), stop.signal);
  await eventually('request', 2_000, () => stub.requests[0] ?? null);

  const abortedAtMs = performance.now();
  stop.abort();

  expect(await heard).toEqual([]);
  await eventually('connection closed', 50, () => (stub.connections === 0 ? true : null));
  expect(performance.now() - abortedAtMs).toBeLessThan(100);
});
