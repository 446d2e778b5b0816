import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../shared/time.ts';
import { FakeTts } from '../fakes/fake-tts.ts';
import { eventually } from '../support/eventually.ts';
import { LiveClient } from '../support/live-client.ts';
import { API_KEY, type SpeechSetup, type SpeechSetupOptions, setUpSpeech } from './speech-setup.ts';

const running: SpeechSetup[] = [];
afterEach(async () => {
  for (const speech of running.splice(0)) await speech.stop();
});

async function setUp(options: SpeechSetupOptions = {}): Promise<SpeechSetup> {
  const speech = await setUpSpeech(options);
  running.push(speech);
  return speech;
}

/** A text of many sentences, each a minute of the fake voice at most. */
const LONG = `${'word '.repeat(50)}. `.repeat(60);

async function inFlight(speech: SpeechSetup): Promise<number> {
  return Number((await speech.registry.getSingleMetricAsString('parley_speech_in_flight')).split(' ').at(-1));
}

test('a request too many is 429 with Retry-After, and there is room again when one ends', async () => {
  const speech = await setUp({ settings: { maxInFlight: 2 } });
  const body = { text: LONG, format: 'wav' };
  const readers = await Promise.all([speech.post('/v1/tts', body), speech.post('/v1/tts', body)]);

  const refused = await speech.post('/v1/tts', body);

  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  await readers[0]?.body?.cancel();
  await eventually('room', 3_000, async () => ((await inFlight(speech)) === 1 ? true : null));
  expect((await speech.post('/v1/tts', { text: 'Short.', format: 'pcm' })).status).toBe(200);
  await readers[1]?.body?.cancel();
});

test('a realtime request too many ends in a finish that says so', async () => {
  const speech = await setUp({ settings: { maxInFlight: 1 } });
  const reader = await speech.post('/v1/tts', { text: LONG, format: 'wav' });
  const client = await LiveClient.open(`${speech.baseUrl}/v1/tts/live`, {
    authorization: `Bearer ${API_KEY}`,
  });

  client.start();

  expect(await client.finish()).toMatchObject({
    reason: 'error',
    message: expect.stringContaining('in flight'),
  });
  client.socket.terminate();
  await reader.body?.cancel();
});

test('without credit everything but the free model is 402', async () => {
  const speech = await setUp();
  speech.account.isOutOfCredit = true;
  const body = { text: 'Hello there.', format: 'pcm' };

  const paid = await speech.post('/v1/tts', body);
  const free = await speech.post('/v1/tts', body, { model: 's2.1-pro-free' });

  expect([paid.status, await paid.json()]).toEqual([
    402,
    { status: 402, message: 'Out of API credit', reason: null },
  ]);
  expect(free.status).toBe(200);
  await free.arrayBuffer();
});

test('a key that is revoked is refused within a second', async () => {
  const speech = await setUp();
  const body = { text: 'Hello there.', format: 'pcm' };
  expect((await speech.post('/v1/tts', body)).status).toBe(200);

  speech.account.isRevoked = true;
  const revokedMs = performance.now();

  await eventually('the refusal', 1_500, async () =>
    (await speech.post('/v1/tts', body)).status === 401 ? true : null,
  );
  expect(performance.now() - revokedMs).toBeLessThan(1_300);
});

test('a reader that stalls stops the voice a little ahead of it', async () => {
  const tts = new FakeTts({ clock: systemClock, sampleRateHz: 24_000 });
  const speech = await setUp({ tts });

  const reader = await speech.post('/v1/tts', { text: LONG, format: 'wav' });
  const asked = await eventually('the voice to wait', 5_000, async () => {
    const before = tts.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return tts.requests.length === before ? before : null;
  });

  // 60 sentences of 10 s are 53 MB of WAV; what the sockets of both sides take is less than a few of them.
  expect(asked).toBeLessThan(20);
  await reader.body?.cancel();
  await eventually('the end', 3_000, async () => ((await inFlight(speech)) === 0 ? true : null));
});

test('a realtime reader that stalls does the same', async () => {
  const tts = new FakeTts({ clock: systemClock, sampleRateHz: 24_000 });
  const speech = await setUp({ tts });
  const client = await LiveClient.open(`${speech.baseUrl}/v1/tts/live`, {
    authorization: `Bearer ${API_KEY}`,
  });
  client.start({ sample_rate: 44_100, format: 'wav' });

  client.socket.pause();
  client.text(LONG);
  const asked = await eventually('the voice to wait', 5_000, async () => {
    const before = tts.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return before > 0 && tts.requests.length === before ? before : null;
  });
  expect(asked).toBeLessThan(20);

  client.socket.resume();
  client.say({ event: 'stop' });
  await eventually('the rest', 10_000, () => (client.events.at(-1)?.event === 'finish' ? true : null));
  expect(client.samples().length / 44_100).toBeGreaterThan(600);
  client.socket.terminate();
});

test('figures are kept: requests, first audio, seconds and bytes', async () => {
  const speech = await setUp();

  await (
    await speech.post('/v1/tts', { text: 'One two three.', format: 'pcm', sample_rate: 16_000 })
  ).arrayBuffer();
  const client = await LiveClient.open(`${speech.baseUrl}/v1/tts/live`, {
    authorization: `Bearer ${API_KEY}`,
  });
  client.start();
  client.text('One two three.');
  client.say({ event: 'stop' });
  await client.finish();
  client.socket.terminate();

  const metrics = await speech.registry.metrics();
  for (const surface of ['rest', 'live']) {
    expect(metrics).toContain(`parley_speech_requests_total{surface="${surface}",outcome="done"} 1`);
    expect(metrics).toContain(`parley_speech_first_audio_ms_count{surface="${surface}"} 1`);
    expect(metrics).toMatch(new RegExp(`parley_speech_audio_seconds_total\\{surface="${surface}"\\} 0\\.6`));
  }
  expect(metrics).toContain('parley_speech_bytes_total{surface="rest"} 19200');
});
