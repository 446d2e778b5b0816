import { afterAll, beforeAll, expect, test } from 'vitest';
import { ffmpeg, heardByFfmpeg } from '../support/ffmpeg.ts';
import { type Parley, startParley } from '../support/parley.ts';
import { wordErrors } from '../support/word-errors.ts';

const TEXT =
  'When does the next train to the coast leave? I would like a table for four. My number is seven three nine.';
const RATE_HZ = 16_000;
const LAG_MS = 80;

let parley: Parley;
let reference: Int16Array;
beforeAll(async () => {
  parley = await startParley();
  reference = await heardByFfmpeg(await speak({ format: 'pcm', sample_rate: 44_100 }), RATE_HZ, [
    '-f',
    's16le',
    '-ar',
    '44100',
  ]);
}, 240_000);
afterAll(() => parley.stop());

async function post(
  path: string,
  body: string | FormData,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${parley.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${parley.apiKey}`, ...headers },
    body,
    signal: AbortSignal.timeout(60_000),
  });
}

async function speak(wish: object): Promise<Uint8Array> {
  const body = JSON.stringify({ text: TEXT, ...wish });
  const reply = await post('/v1/tts', body, { 'content-type': 'application/json' });
  if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`);
  return new Uint8Array(await reply.arrayBuffer());
}

/** The best correlation of the two within ±80 ms of each other. */
function correlation(a: Int16Array, b: Int16Array): number {
  const lag = (RATE_HZ * LAG_MS) / 1000;
  const length = Math.min(a.length, b.length) - 2 * lag;
  let best = -1;
  for (let shift = -lag; shift <= lag; shift += 2) {
    let [ab, aa, bb] = [0, 0, 0];
    for (let i = lag; i < lag + length; i += 2) {
      const [x, y] = [a[i] ?? 0, b[i + shift] ?? 0];
      ab += x * y;
      aa += x * x;
      bb += y * y;
    }
    best = Math.max(best, ab / Math.sqrt(aa * bb + 1));
  }
  return best;
}

const pcmInput = (rate: number) => ['-f', 's16le', '-ar', String(rate), '-ac', '1'];

test.each([
  ...[8_000, 16_000, 24_000, 32_000, 44_100].map(
    (rate) => [{ format: 'wav', sample_rate: rate }, [], 20] as const,
  ),
  ...[8_000, 24_000].map((rate) => [{ format: 'pcm', sample_rate: rate }, pcmInput(rate), 20] as const),
  ...[64, 128, 192].map((kbps) => [{ format: 'mp3', mp3_bitrate: kbps }, [], 80] as const),
  [{ format: 'mp3', sample_rate: 32_000 }, [], 80] as const,
  ...[-1_000, 24, 32_000, 48_000, 64].map((bps) => [{ format: 'opus', opus_bitrate: bps }, [], 20] as const),
])('%j is the same audio to ffmpeg', async (wish, input, toleranceMs) => {
  const heard = await heardByFfmpeg(await speak(wish), RATE_HZ, input);

  const differenceMs = (Math.abs(heard.length - reference.length) * 1000) / RATE_HZ;
  expect(differenceMs).toBeLessThan(toleranceMs);
  expect(correlation(reference, heard)).toBeGreaterThan(0.95);
});

test('no click where one piece of text ends and the next begins', async () => {
  const body = JSON.stringify({ text: TEXT, format: 'pcm', sample_rate: 24_000, min_chunk_length: 0 });
  const reply = await post('/v1/tts/stream/with-timestamp', body, { 'content-type': 'application/json' });
  const events = (await reply.text())
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => JSON.parse(block.slice(6)) as { audio_base64: string; chunk_audio_offset_sec: number });
  const bytes = Uint8Array.from(
    Buffer.concat(events.map((event) => Buffer.from(event.audio_base64, 'base64'))),
  );
  const samples = new Int16Array(bytes.buffer);
  const borders = [...new Set(events.map((event) => event.chunk_audio_offset_sec))].filter((at) => at > 0);

  expect(borders).toHaveLength(2);
  for (const at of borders) {
    const middle = Math.round(at * 24_000);
    const around = samples.slice(middle - 48, middle + 48);
    const jumps = around.map((sample, i) => (i === 0 ? 0 : Math.abs(sample - (around[i - 1] ?? 0))));
    // 1 % of full scale from one sample to the next.
    expect(Math.max(...jumps)).toBeLessThan(328);
  }
});

test.each([
  ['mp3', ['-c:a', 'libmp3lame', '-f', 'mp3']],
  ['Opus in Ogg', ['-c:a', 'libopus', '-f', 'ogg']],
  ['Vorbis in Ogg', ['-c:a', 'libvorbis', '-f', 'ogg']],
  ['flac', ['-c:a', 'flac', '-f', 'flac']],
  ['WebM', ['-c:a', 'libopus', '-f', 'webm']],
  ['AAC', ['-c:a', 'aac', '-f', 'adts']],
  ['m4a', ['-c:a', 'aac', '-f', 'mp4', '-movflags', 'frag_keyframe+empty_moov']],
  ['24-bit wav in stereo', ['-c:a', 'pcm_s24le', '-ac', '2', '-ar', '48000', '-f', 'wav']],
  ['float wav', ['-c:a', 'pcm_f32le', '-f', 'wav']],
])('a recording in %s is understood', async (_name, output) => {
  const audio = await ffmpeg(new Uint8Array(reference.buffer), [
    ...pcmInput(RATE_HZ),
    ...['-i', 'pipe:0', ...output, 'pipe:1'],
  ]);
  const form = new FormData();
  form.set('audio', new Blob([Uint8Array.from(audio)]), 'audio');
  form.set('ignore_timestamps', 'false');

  const reply = await post('/v1/asr', form);

  const body = (await reply.json()) as { text: string; duration: number };
  expect(reply.status, JSON.stringify(body)).toBe(200);
  expect(Math.abs(body.duration - reference.length / RATE_HZ)).toBeLessThan(0.15);
  const { errors, words } = wordErrors(TEXT, body.text);
  expect(errors / words, body.text).toBeLessThan(0.5);
});
