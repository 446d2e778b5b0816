import { encode } from '@msgpack/msgpack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_VOICE_ID } from '../../shared/builtin-voices.ts';
import type { SpeechUsage } from '../../shared/generated/parley/v1/control.ts';
import { eventually } from '../support/eventually.ts';
import { toneShare } from '../support/pitch.ts';
import { type SpeechSetup, setUpSpeech, VOICE_DE } from './speech-setup.ts';

let speech: SpeechSetup;
beforeAll(async () => {
  speech = await setUpSpeech();
});
afterAll(() => speech.stop());

const WORDS = 'One two three four five.';

function samplesOf(bytes: ArrayBuffer, from = 0): Int16Array {
  return new Int16Array(bytes.slice(from, from + Math.floor((bytes.byteLength - from) / 2) * 2));
}

/** The usage of this many bytes, when it comes. */
function settled(quantity: number): Promise<SpeechUsage> {
  return eventually('usage', 3_000, () => speech.usage.find((usage) => usage.quantity === quantity) ?? null);
}

test('PCM comes headerless at the rate that was asked for, as long as the words last', async () => {
  const reply = await speech.post('/v1/tts', { text: WORDS, format: 'pcm', sample_rate: 16_000 });

  const samples = samplesOf(await reply.arrayBuffer());
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('audio/pcm');
  expect(samples.length).toBe(16_000);
  expect(toneShare(samples, 16_000, 1_000)).toBeGreaterThan(0.98);
});

test('a streamed WAV says sizes that nobody knows yet', async () => {
  const reply = await speech.post('/v1/tts', { text: WORDS, format: 'wav' });

  const bytes = await reply.arrayBuffer();
  const view = new DataView(bytes);
  expect(reply.headers.get('content-type')).toBe('audio/wav');
  expect(Buffer.from(bytes, 0, 4).toString()).toBe('RIFF');
  expect(view.getUint32(4, true)).toBe(4_294_967_076);
  expect(view.getUint32(24, true)).toBe(44_100);
  expect(view.getUint32(40, true)).toBe(4_294_967_040);
  expect((bytes.byteLength - 44) / 2).toBe(44_100);
});

test('MP3 is the default, Opus comes in Ogg', async () => {
  const mp3 = await speech.post('/v1/tts', { text: WORDS });
  const opus = await speech.post('/v1/tts', { text: WORDS, format: 'opus' });

  const mp3Bytes = new Uint8Array(await mp3.arrayBuffer());
  const opusBytes = Buffer.from(await opus.arrayBuffer());
  expect(mp3.headers.get('content-type')).toBe('audio/mpeg');
  // MPEG 1, layer III (a sync of eleven bits), 128 kbit/s, 44.1 kHz.
  expect([mp3Bytes[0], (mp3Bytes[1] ?? 0) & 0xfe, (mp3Bytes[2] ?? 0) & 0xfc]).toEqual([0xff, 0xfa, 0x90]);
  expect(opus.headers.get('content-type')).toBe('audio/ogg');
  expect(opusBytes.subarray(0, 4).toString()).toBe('OggS');
  expect(opusBytes.subarray(28, 36).toString()).toBe('OpusHead');
});

test('MessagePack says the same as JSON, and explicit nulls say nothing', async () => {
  const body = {
    text: WORDS,
    format: 'pcm',
    sample_rate: null,
    reference_id: null,
    references: [],
    prosody: null,
    opus_bitrate: 32,
    mp3_bitrate: 128,
    chunk_length: 200,
    latency: 'balanced',
    temperature: null,
    top_p: null,
    features: ['quality-guard'],
    a_flag_of_a_later_version: true,
  };

  const reply = await speech.post('/v1/tts', encode(body), { 'content-type': 'application/msgpack' });

  expect(reply.status).toBe(200);
  expect((await reply.arrayBuffer()).byteLength / 2).toBe(44_100);
});

test('the first sentence is heard before the second one is spoken', async () => {
  const { tts } = speech;
  const before = tts.requests.length;

  const reply = await speech.post('/v1/tts', {
    text: `${WORDS} ${'word '.repeat(60)}. ${'word '.repeat(60)}.`,
    format: 'wav',
  });
  const reader = reply.body?.getReader();
  await reader?.read();

  expect(tts.requests.length - before).toBeLessThan(3);
  expect(tts.requests[before]?.text).toBe(WORDS);
  await reader?.cancel();
});

test('speed changes how long it takes, volume how loud it is', async () => {
  const plain = { text: WORDS, format: 'pcm', prosody: { normalize_loudness: false } };
  const slow = await speech.post('/v1/tts', { ...plain, prosody: { ...plain.prosody, speed: 0.5 } });
  const loud = await speech.post('/v1/tts', { ...plain, prosody: { ...plain.prosody, volume: 6 } });
  const asIs = await speech.post('/v1/tts', plain);

  const peak = (samples: Int16Array) => samples.reduce((most, s) => Math.max(most, Math.abs(s)), 0);
  const [slowOnes, loudOnes, plainOnes] = await Promise.all(
    [slow, loud, asIs].map(async (reply) => samplesOf(await reply.arrayBuffer())),
  );
  expect(slowOnes?.length).toBe(88_200);
  expect(peak(loudOnes ?? new Int16Array())).toBeCloseTo(2 * peak(plainOnes ?? new Int16Array()), -3);
});

test('each speaker of the text has its own voice', async () => {
  const before = speech.tts.requests.length;

  const reply = await speech.post('/v1/tts', {
    text: '<|speaker:0|>Good morning to you.<|speaker:1|>Guten Morgen.',
    reference_id: [DEFAULT_VOICE_ID, VOICE_DE],
    format: 'pcm',
  });

  await reply.arrayBuffer();
  expect(speech.tts.requests.slice(before).map((r) => [r.text, r.voice, r.language])).toEqual([
    ['Good morning to you.', DEFAULT_VOICE_ID, 'en'],
    ['Guten Morgen.', 'anna', 'de'],
  ]);
});

test('several voices at once are refused for a model that has one', async () => {
  const body = { text: 'Hi there.', reference_id: [DEFAULT_VOICE_ID, VOICE_DE] };

  const reply = await speech.post('/v1/tts', body, { model: 's1' });

  expect(reply.status).toBe(422);
  expect(await reply.json()).toMatchObject([{ loc: ['body', 'reference_id'] }]);
});

test('an unknown model means the default and is never an error', async () => {
  const reply = await speech.post(
    '/v1/tts',
    { text: 'Hello there, you two.', format: 'pcm' },
    { model: 'speech-1.5' },
  );

  await reply.arrayBuffer();
  expect(reply.status).toBe(200);
  expect(await settled(21)).toMatchObject({ kind: 'tts', model: 's2.1-pro' });
});

test('a voice that does not exist is 400 Reference not found', async () => {
  const reply = await speech.post('/v1/tts', { text: 'Hi.', reference_id: 'f'.repeat(32) });

  expect(reply.status).toBe(400);
  expect(await reply.json()).toEqual({ status: 400, message: 'Reference not found', reason: null });
});

test('a rate that the codec does not have is 400 and names the codec', async () => {
  const reply = await speech.post('/v1/tts', { text: 'Hi.', format: 'mp3', sample_rate: 22_050 });

  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({
    message: expect.stringMatching(/^Invalid sample rate 22050 for format audio\/mpeg/),
  });
});

test('what breaks the schema is a 422 list that names the fields and not their values', async () => {
  const reply = await speech.post('/v1/tts', { text: 7, format: 'flac-secret', prosody: { speed: 3 } });

  const text = await reply.text();
  expect(reply.status).toBe(422);
  expect(JSON.parse(text).map((issue: { loc: unknown }) => issue.loc)).toEqual(
    expect.arrayContaining([
      ['body', 'text'],
      ['body', 'format'],
      ['body', 'prosody', 'speed'],
    ]),
  );
  expect(text).not.toContain('secret');
});

test.each([['...'], ['😀'], ['']])('the text %j has nothing to speak: 422', async (text) => {
  const reply = await speech.post('/v1/tts', { text });

  expect(reply.status).toBe(422);
});

test('more than 20,000 characters are refused', async () => {
  const reply = await speech.post('/v1/tts', { text: 'a'.repeat(20_001) });

  expect(reply.status).toBe(422);
  expect(await reply.json()).toMatchObject([{ type: 'string_too_long', loc: ['body', 'text'] }]);
});

test.each([
  ['application/json', '{"text": "secret'],
  ['application/msgpack', new Uint8Array([0xc1, 0xff])],
])('a body of %s that can not be read is 400 with a plain text', async (type, body) => {
  const reply = await speech.post('/v1/tts', body, { 'content-type': type });

  const text = await reply.text();
  expect(reply.status).toBe(400);
  expect(reply.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(text).toMatch(/^Failed to parse/);
  expect(text).not.toContain('secret');
});

test('another media type and a missing body are a bare 415', async () => {
  const form = await speech.post('/v1/tts', 'text=hi', {
    'content-type': 'application/x-www-form-urlencoded',
  });
  const empty = await speech.post('/v1/tts', null);

  expect([form.status, await form.text(), empty.status, await empty.text()]).toEqual([415, '', 415, '']);
});

test('without a key it is a bare 401, with a bad one a 401 that says so', async () => {
  const bare = await speech.post('/v1/tts', { text: 'Hi.' }, { authorization: undefined });
  const bad = await speech.post('/v1/tts', { text: 'Hi.' }, { authorization: 'Bearer pk-other' });

  expect([bare.status, bare.headers.get('www-authenticate'), await bare.text()]).toEqual([401, 'Bearer', '']);
  expect([bad.status, await bad.json()]).toEqual([
    401,
    { status: 401, message: 'Invalid token', reason: null },
  ]);
});

test('every reply carries a request id and the caller’s trace', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

  const reply = await speech.post(
    '/v1/tts',
    { text: 'Hi.', format: 'pcm' },
    { traceparent, 'x-request-id': 'r-1' },
  );

  await reply.arrayBuffer();
  expect(reply.headers.get('x-request-id')).toBe('r-1');
  expect(reply.headers.get('traceparent')).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-/);
});

test('usage is the UTF-8 bytes that were spoken, once per request', async () => {
  await (await speech.post('/v1/tts', { text: 'Grüße aus Köln.', format: 'pcm' })).arrayBuffer();

  expect(await settled(18)).toMatchObject({ workspaceId: 'ws1', kind: 'tts' });
  expect(speech.usage.filter((usage) => usage.quantity === 18)).toHaveLength(1);
});

test('with times: events of one line each, a snapshot of the words for each part of the audio', async () => {
  const reply = await speech.post('/v1/tts/stream/with-timestamp', {
    text: `${WORDS} Then ${'more '.repeat(12)}came.`,
    format: 'pcm',
    sample_rate: 24_000,
  });

  const events = (await reply.text()).split('\n\n').filter((block) => block !== '');
  expect(reply.headers.get('content-type')).toBe('text/event-stream');
  const parsed = events.map((block) => {
    expect(block.startsWith('data: ')).toBe(true);
    return JSON.parse(block.slice(6));
  });
  const first = parsed.filter((e) => e.chunk_seq === 0).at(-1);
  const second = parsed.filter((e) => e.chunk_seq === 1).at(-1);
  expect(Object.keys(first).toSorted()).toEqual([
    'alignment',
    'audio_base64',
    'chunk_audio_offset_sec',
    'chunk_seq',
    'content',
  ]);
  expect(first).toMatchObject({ content: WORDS, chunk_audio_offset_sec: 0 });
  expect(first.alignment).toEqual({
    segments: ['One', 'two', 'three', 'four', 'five.'].map((text, i) => ({
      text,
      start: i / 5,
      end: (i + 1) / 5,
    })),
    audio_duration: 1,
  });
  expect(second.chunk_audio_offset_sec).toBe(1);
  const audio = Buffer.concat(parsed.map((e) => Buffer.from(e.audio_base64, 'base64')));
  expect(audio.length / 2).toBe(24_000 * (1 + 14 * 0.2));
});
