import { encode } from '@msgpack/msgpack';
import { beforeAll, expect, test } from 'vitest';
import { EncodingChain } from '../../media-worker/codec/encoding-chain.ts';
import { loadMp3Encoders } from '../../media-worker/codec/mp3.ts';
import { loadResampler } from '../../media-worker/codec/resample.ts';
import { joinBytes } from '../../media-worker/codec/stream-encoder.ts';
import { decodeUpload } from '../../media-worker/codec/upload/decode-upload.ts';
import { UndecodableAudio } from '../../media-worker/codec/upload/decoded-audio.ts';
import { LiveClient } from '../support/live-client.ts';
import { tone } from '../support/pitch.ts';
import { API_KEY, setUpSpeech } from './speech-setup.ts';

/** A generator of numbers that are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Some bytes changed, some cut off, some put in twice. */
function damaged(bytes: Uint8Array, random: () => number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const at = () => Math.floor(random() * copy.length);
  for (let i = 0; i < 1 + random() * 8; i++) copy[at()] = Math.floor(random() * 256);
  const kind = random();
  if (kind < 0.3) return copy.slice(0, at());
  if (kind < 0.5) return joinBytes([copy.slice(0, at()), copy.slice(at())]);
  return copy;
}

const MESSAGES = [
  { event: 'start', request: { text: '', format: 'pcm', sample_rate: 16_000, prosody: null } },
  { event: 'start', request: { text: 'Hello.', format: 'opus' } },
  { event: 'text', text: 'Some words to say. ' },
  { event: 'flush' },
  { event: 'stop' },
  { event: 'text', text: 'x'.repeat(30_000) },
  { event: 'start', request: null },
];

test('10,000 frames, most of them damaged and in any order: every socket answers or closes, nothing stays behind', async () => {
  const random = seeded(7);
  const speech = await setUpSpeech({ settings: { maxInFlight: 10_000 } });
  const codes = new Map<number, number>();
  let sent = 0;
  while (sent < 10_000) {
    const clients = await Promise.all(
      Array.from({ length: 20 }, () =>
        LiveClient.open(`${speech.baseUrl}/v1/tts/live`, { authorization: `Bearer ${API_KEY}` }),
      ),
    );
    for (const client of clients) {
      for (let i = 0; i < 25; i++) {
        const frame = encode(MESSAGES[Math.floor(random() * MESSAGES.length)]);
        client.socket.send(random() < 0.6 ? damaged(frame, random) : frame);
        sent++;
      }
    }
    for (const client of clients) {
      const answered = () =>
        client.closed !== null || client.events.some((event) => event.event === 'finish');
      await client.until('an answer', answered);
      for (const event of client.events) expect(['audio', 'finish']).toContain(event.event);
      if (client.closed) codes.set(client.closed.code, (codes.get(client.closed.code) ?? 0) + 1);
      client.socket.terminate();
    }
  }

  expect([...codes.keys()].every((code) => [1007, 1008].includes(code))).toBe(true);
  const good = await speech.post('/v1/tts', { text: 'Still here.', format: 'pcm' });
  expect(good.status).toBe(200);
  await good.arrayBuffer();
  await expect
    .poll(async () => speech.registry.getSingleMetricAsString('parley_speech_in_flight'), { timeout: 5_000 })
    .toMatch(/ 0$/);
  await speech.stop();
}, 60_000);

test('1,000 damaged bodies are refused one by one', async () => {
  const random = seeded(8);
  const speech = await setUpSpeech();
  const whole = encode({
    text: 'Hi.',
    format: 'pcm',
    prosody: { speed: 1 },
    reference_id: null,
    sample_rate: 8_000,
  });

  const statuses = new Set<number>();
  for (let i = 0; i < 1_000; i++) {
    const reply = await speech.post('/v1/tts', damaged(whole, random), {
      'content-type': 'application/msgpack',
    });
    statuses.add(reply.status);
    await reply.arrayBuffer();
  }

  expect([...statuses].every((status) => [200, 400, 415, 422].includes(status))).toBe(true);
  await speech.stop();
}, 60_000);

const uploads = new Map<string, Uint8Array>();
beforeAll(async () => {
  const [open, mp3] = await Promise.all([loadResampler(), loadMp3Encoders(1)]);
  await mp3.prepare();
  const formats = [
    { codec: 'wav', sampleRateHz: 16_000 },
    { codec: 'mp3', sampleRateHz: 44_100, bitrateKbps: 128 },
    { codec: 'opus', sampleRateHz: 48_000, bitrateBps: null },
  ] as const;
  for (const format of formats) {
    const chain = new EncodingChain(
      { format, level: { volumeDb: 0, normalizes: false }, serial: 1 },
      open,
      mp3,
    );
    uploads.set(format.codec, joinBytes([chain.push(tone(400, 1_000, 16_000), 16_000), chain.finish()]));
  }
});

test.each(['wav', 'mp3', 'opus'])(
  '200 damaged uploads of %s end in audio or a refusal, soon',
  async (codec) => {
    const random = seeded(9);
    const whole = uploads.get(codec) ?? new Uint8Array(0);
    for (let i = 0; i < 200; i++) {
      let samples = 0;
      try {
        for await (const { channels } of decodeUpload(damaged(whole, random), {
          ffmpeg: 'none',
          maxSeconds: 10,
        }))
          samples += channels[0]?.length ?? 0;
      } catch (error) {
        expect(error).toBeInstanceOf(UndecodableAudio);
      }
      // Twice the recording at its highest rate: nothing is made out of nothing.
      expect(samples).toBeLessThan(200_000);
    }
  },
  60_000,
);
