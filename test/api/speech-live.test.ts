import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Failure } from '../../shared/errors.ts';
import { systemClock } from '../../shared/time.ts';
import { FakeTts } from '../fakes/fake-tts.ts';
import { eventually } from '../support/eventually.ts';
import { LiveClient } from '../support/live-client.ts';
import { toneShare } from '../support/pitch.ts';
import { API_KEY, type SpeechSetup, setUpSpeech } from './speech-setup.ts';

let speech: SpeechSetup;
const clients: LiveClient[] = [];
beforeAll(async () => {
  speech = await setUpSpeech();
});
afterEach(() => {
  for (const client of clients.splice(0)) client.socket.terminate();
});
afterAll(() => speech.stop());

async function connect(path = '/v1/tts/live', from: SpeechSetup = speech): Promise<LiveClient> {
  const client = await LiveClient.open(`${from.baseUrl}${path}`, { authorization: `Bearer ${API_KEY}` });
  clients.push(client);
  return client;
}

test('start, text and stop are answered with audio and one finish', async () => {
  const client = await connect();

  client.start();
  client.text('One two three ');
  client.text('four five.');
  client.say({ event: 'stop' });

  expect(await client.finish()).toEqual({ event: 'finish', reason: 'stop' });
  expect(client.samples().length).toBe(16_000);
  expect(toneShare(client.samples(), 16_000, 1_000)).toBeGreaterThan(0.98);
});

test('the socket stays open after finish and takes the next start', async () => {
  const client = await connect();
  for (const round of [1, 2, 3]) {
    client.start();
    client.text('Once more.');
    client.say({ event: 'stop' });
    await client.finish(round);
  }

  expect(client.samples().length).toBe(3 * 6_400);
  expect(client.closed).toBeNull();
});

test('a start may follow a stop before its finish', async () => {
  const client = await connect();

  for (const word of ['One.', 'Two three.']) {
    client.start();
    client.text(word);
    client.say({ event: 'stop' });
  }

  await client.finish(2);
  expect(client.samples().length).toBe(3 * 3_200);
});

test('flush speaks what waits, and an empty flush does no harm', async () => {
  const client = await connect();

  client.start();
  client.say({ event: 'flush' });
  client.text('No full stop here');
  client.say({ event: 'flush' });
  client.say({ event: 'flush' });

  await client.until('the words', () => client.samples().length === 4 * 3_200);
  client.say({ event: 'flush' });
  client.text('and more');
  client.say({ event: 'stop' });
  await client.finish();
  expect(client.samples().length).toBe(6 * 3_200);
});

test('the first sentence is spoken before the text has ended', async () => {
  const client = await connect();

  client.start();
  client.text('This is a sentence. And this is');

  await client.until('audio', () => client.samples().length > 4 * 3_200 - 160);
});

test('a clause is enough where latency counts', async () => {
  const client = await connect();

  client.start({ latency: 'balanced' });
  client.text('Well then my friend, we could ');

  await client.until('audio', () => client.samples().length > 4 * 3_200 - 160);
});

test('no message of PCM is so short that players drop it', async () => {
  const client = await connect();

  client.start({ sample_rate: 24_000 });
  client.text('One two three four five six.');
  client.say({ event: 'stop' });

  await client.finish();
  const sizes = client.events.flatMap((event) => event.audio?.length ?? []);
  expect(Math.min(...sizes)).toBeGreaterThan(1_024);
});

test('nulls for every optional field, text in the start, no format: MP3 comes', async () => {
  const client = await connect();

  client.say({
    event: 'start',
    request: {
      text: 'Hello.',
      sample_rate: null,
      reference_id: null,
      prosody: null,
      format: null,
      references: [],
    },
  });
  client.say({ event: 'stop' });

  expect(await client.finish()).toMatchObject({ reason: 'stop' });
  expect(client.events[0]?.audio?.[0]).toBe(0xff);
});

test('a refused start ends in a finish that says why, and the socket goes on', async () => {
  const client = await connect();

  client.start({ reference_id: 'f'.repeat(32) });
  client.text('Nobody says this.');
  client.say({ event: 'flush' });
  client.say({ event: 'stop' });
  expect(await client.finish()).toEqual({ event: 'finish', reason: 'error', message: 'Reference not found' });
  client.start({ prosody: { speed: 9 } });
  expect((await client.finish(2)).message).toContain('body.prosody.speed');
  client.start();
  client.text('This is heard.');
  client.say({ event: 'stop' });

  expect(await client.finish(3)).toMatchObject({ reason: 'stop' });
  expect(client.samples().length).toBe(3 * 3_200);
});

test('a voice that fails ends its request and not the socket', async () => {
  const client = await connect();
  speech.tts.failNext = new Failure('upstream_failed', 'The voice is hoarse');

  client.start();
  client.text('Hello there.');
  client.say({ event: 'stop' });

  expect(await client.finish()).toEqual({ event: 'finish', reason: 'error', message: 'The voice is hoarse' });
  client.start();
  client.text('Hello there.');
  client.say({ event: 'stop' });
  expect(await client.finish(2)).toMatchObject({ reason: 'stop' });
});

test.each([
  ['text before a start', { event: 'text', text: 'Hi.' }, 1008],
  ['bytes that are no MessagePack', new Uint8Array([0xc1]), 1007],
  ['a list', [1, 2], 1007],
  ['text that is a number', { event: 'text', text: 5 }, 1007],
])('%s is told and closes the socket', async (_what, message, code) => {
  const client = await connect();

  if (message instanceof Uint8Array) client.socket.send(message);
  else client.say(message);

  expect((await client.finish()).reason).toBe('error');
  await client.until('close', () => client.closed !== null);
  expect(client.closed?.code).toBe(code);
});

test('a frame of text closes the socket with 1003', async () => {
  const client = await connect();

  client.socket.send('{"event":"start"}');

  await client.until('close', () => client.closed !== null);
  expect(client.closed?.code).toBe(1003);
});

test('events nobody knows and a stop without a start are ignored', async () => {
  const client = await connect();

  client.say({ event: 'stop' });
  client.say({ event: 'flush' });
  client.say({ event: 'of_a_later_version', more: 1 });
  client.start();
  client.text('Still here.');
  client.say({ event: 'stop' });

  expect(await client.finish()).toMatchObject({ reason: 'stop' });
});

test('a client that leaves stops the voice', async () => {
  const slow = new FakeTts({ clock: systemClock, delayMs: 50 });
  const own = await setUpSpeech({ tts: slow });
  const client = await connect('/v1/tts/live', own);
  client.start({ min_chunk_length: 0 });
  client.text('One sentence. '.repeat(100));
  client.say({ event: 'stop' });
  await client.until('audio', () => client.events.length > 0);

  client.socket.terminate();

  const asked = await eventually('the voice stops', 3_000, async () => {
    const before = slow.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return slow.requests.length === before ? before : null;
  });
  expect(asked).toBeLessThan(20);
  await own.stop();
});

test('a socket on which nobody says anything is closed', async () => {
  const own = await setUpSpeech({ settings: { liveIdleMs: 150 } });
  const client = await connect('/v1/tts/live', own);

  await client.until('close', () => client.closed !== null);

  expect(client.closed).toEqual({ code: 1000, reason: 'idle' });
  await own.stop();
});

test('pings are answered', async () => {
  const client = await connect();
  const pong = new Promise((resolve) => client.socket.once('pong', resolve));

  client.socket.ping('x');

  await pong;
});

test('without a good key the upgrade is refused', async () => {
  const url = `${speech.baseUrl}/v1/tts/live`;

  await expect(LiveClient.open(url, {})).rejects.toThrow('status 401');
  await expect(LiveClient.open(url, { authorization: 'Bearer other' })).rejects.toThrow('status 401');
});

test('with times: words lie inside their piece, and pieces one after the other', async () => {
  const client = await connect('/v1/tts/live/with-timestamp');

  client.start({ min_chunk_length: 0 });
  client.text('One two three. Four five. ');
  client.say({ event: 'stop' });
  await client.finish();

  const of = (seq: number) => client.events.filter((event) => event.audio && event.chunk_seq === seq).at(-1);
  expect(of(0)).toMatchObject({ content: 'One two three.', chunk_audio_offset_sec: 0 });
  expect(of(0)?.alignment).toEqual({
    segments: ['One', 'two', 'three.'].map((text, i) => ({ text, start: i / 5, end: (i + 1) / 5 })),
    audio_duration: 0.6,
  });
  expect(of(1)).toMatchObject({ content: 'Four five.', chunk_audio_offset_sec: 0.6 });
});

test('a session of many utterances occupies a place only while it speaks, and pays as it goes', async () => {
  const own = await setUpSpeech({ settings: { maxInFlight: 1 } });
  const [one, two] = [await connect('/v1/tts/live', own), await connect('/v1/tts/live', own)];
  for (const client of [one, two, one]) {
    const before = client.samples().length;
    if (before === 0) client.start();
    client.text('My turn now.');
    client.say({ event: 'flush' });
    await client.until('audio', () => client.samples().length === before + 3 * 3_200);
    await eventually(
      'the place is free',
      2_000,
      async () =>
        (await own.registry.getSingleMetricAsString('parley_speech_in_flight')).endsWith(' 0') || null,
    );
  }

  await eventually('usage', 3_000, () => own.usage.length === 3 || null);
  expect(own.usage.map((usage) => usage.quantity)).toEqual([12, 12, 12]);
  await own.stop();
});
