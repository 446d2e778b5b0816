import { expect, onTestFinished, test } from 'vitest';
import { OpenAiTts, type OpenAiTtsSettings } from '../../media-worker/tts/engines/openai/openai-tts.ts';
import { createOutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import { resolveWithSystem } from '../../shared/outgoing/system-resolver.ts';
import { systemClock } from '../../shared/time.ts';
import { eventually } from '../support/eventually.ts';
import { OpenAiStub, pcm, type StubAnswer } from '../support/openai-stub.ts';
import { tone } from '../support/pitch.ts';
import { speak } from './tts-engine.contract.ts';

const REQUEST = { text: 'Hello there, my friend.', voice: null, language: 'en', speed: 1 };
const SECOND = pcm(tone(1_000, 1_000, 24_000));

async function setUp(answer: StubAnswer, settings: Partial<OpenAiTtsSettings> = {}) {
  const stub = new OpenAiStub();
  const baseUrl = await stub.start();
  stub.willAnswer(answer);
  const http = createOutgoingClient({ resolve: resolveWithSystem, allowHosts: [stub.host] });
  onTestFinished(async () => {
    await http.close();
    await stub.stop();
  });
  const engine = new OpenAiTts(
    { http, clock: systemClock },
    { baseUrl: `${baseUrl}/`, apiKey: 'secret', model: 'tts-1', voice: 'alloy', ...settings },
  );
  return { engine, stub };
}

test('asks for PCM with model, voice and text, and for a speed only when it is not 1', async () => {
  const { engine, stub } = await setUp({ steps: [SECOND] });

  await speak(engine, REQUEST);
  await speak(engine, { ...REQUEST, voice: 'nova', speed: 1.5 });

  const body = { model: 'tts-1', voice: 'alloy', input: REQUEST.text, response_format: 'pcm' };
  expect(stub.requests[0]).toMatchObject({
    path: '/v1/audio/speech',
    headers: { authorization: 'Bearer secret' },
  });
  expect(stub.requests[0]?.body).toEqual(body);
  expect(stub.requests[1]?.body).toEqual({ ...body, voice: 'nova', speed: 1.5 });
});

test('audio is handed on while the rest is still made', async () => {
  const { engine } = await setUp({ steps: [SECOND, { waitMs: 1_000 }, SECOND] });

  const startedMs = performance.now();
  for await (const chunk of engine.synthesize(REQUEST, new AbortController().signal))
    if (chunk.type === 'audio') break;

  expect(performance.now() - startedMs).toBeLessThan(500);
});

test('silence before the speech is left out but for 30 ms', async () => {
  const { engine } = await setUp({ steps: [pcm(new Int16Array(24_000)), SECOND] });

  const { totalMs } = await speak(engine, REQUEST);

  expect(totalMs).toBeGreaterThan(990);
  expect(totalMs).toBeLessThan(1_040);
});

test('a RIFF header is not played and gives the rate', async () => {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0).toString();
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16_000, 24);
  header.write('data', 36);
  const { engine } = await setUp({ steps: [header, pcm(tone(1_000, 1_000, 16_000))] });

  const { rates, totalMs } = await speak(engine, REQUEST);

  expect([...rates]).toEqual([16_000]);
  expect(totalMs).toBeCloseTo(1_000, -1);
});

test('word times are marked as estimated and come closer to a voice with every sentence', async () => {
  const { engine } = await setUp({ steps: [pcm(tone(1_000, 3_000, 24_000))] });

  const first = await speak(engine, REQUEST);
  for (let i = 0; i < 8; i++) await speak(engine, REQUEST);
  const later = await speak(engine, REQUEST);

  const missMs = ({ words, totalMs }: typeof first) => Math.abs((words.at(-1)?.endMs ?? 0) - totalMs);
  expect(first.words.every((word) => word.isEstimated)).toBe(true);
  expect(missMs(later)).toBeLessThan(missMs(first) / 2);
});

test.each([
  ['an error status', { status: 500, steps: ['no'] }],
  ['a refused key', { status: 401, steps: ['no'] }],
  ['no audio', { steps: [] }],
  ['only silence', { steps: [pcm(new Int16Array(24_000))] }],
  ['a lost connection', { steps: ['cut'] }],
] as const)('%s is an upstream failure', async (_what, answer) => {
  const { engine } = await setUp(answer);

  await expect(speak(engine, REQUEST)).rejects.toMatchObject({ kind: 'upstream_failed' });
});

test('audio that is cut off fails, after what had come', async () => {
  const { engine } = await setUp({ steps: [SECOND, 'cut'] });
  let chunks = 0;

  const speaking = (async () => {
    for await (const chunk of engine.synthesize(REQUEST, new AbortController().signal))
      if (chunk.type === 'audio') chunks++;
  })();

  await expect(speaking).rejects.toMatchObject({ kind: 'upstream_failed' });
  expect(chunks).toBeGreaterThan(0);
});

test.each([
  ['does not answer', { steps: 'never' }],
  ['sends headers only', { steps: [{ waitMs: 5_000 }] }],
] as const)('a service that %s fails at the deadline of the first byte', async (_what, answer) => {
  const { engine } = await setUp(answer, { firstByteDeadlineMs: 200 });

  const startedMs = performance.now();
  await expect(speak(engine, REQUEST)).rejects.toMatchObject({ kind: 'upstream_failed' });

  expect(performance.now() - startedMs).toBeLessThan(500);
});

test('a service that stops in the middle fails at the gap deadline', async () => {
  const { engine } = await setUp({ steps: [SECOND, { waitMs: 5_000 }] }, { gapDeadlineMs: 200 });

  const startedMs = performance.now();
  await expect(speak(engine, REQUEST)).rejects.toMatchObject({ kind: 'upstream_failed' });

  expect(performance.now() - startedMs).toBeLessThan(500);
});

test('aborting frees the connection within 50 ms', async () => {
  const { engine, stub } = await setUp({ steps: [SECOND, { waitMs: 60_000 }] });
  const controller = new AbortController();
  const speaking = speak(engine, REQUEST, controller.signal);
  await eventually('the service answers', 2_000, () => (stub.running === 1 ? true : null));
  await new Promise((resolve) => setTimeout(resolve, 20));

  const abortedAtMs = performance.now();
  controller.abort();
  await speaking;
  await eventually('the connection is free', 2_000, () => (stub.connections === 0 ? true : null));

  expect(performance.now() - abortedAtMs).toBeLessThan(50);
});

test('warming up never throws, also when nobody listens', async () => {
  const { engine } = await setUp({ steps: [SECOND] }, { baseUrl: 'http://127.0.0.1:1/v1' });

  await expect(engine.prewarm()).resolves.toBeUndefined();
});
