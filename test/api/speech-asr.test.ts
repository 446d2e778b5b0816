import { encode } from '@msgpack/msgpack';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { wavHeader } from '../../media-worker/codec/wav.ts';
import { createFakeRecogniser } from '../fakes/fake-recogniser.ts';
import { eventually } from '../support/eventually.ts';
import { tone, toneShare } from '../support/pitch.ts';
import { joined, silence } from '../support/speech-samples.ts';
import { type SpeechSetup, setUpSpeech } from './speech-setup.ts';

const RATE_HZ = 16_000;
const asr = createFakeRecogniser({
  places: 3,
  understand: ({ samples }) => (toneShare(samples, RATE_HZ, 400) > 0.2 ? 'low' : 'high'),
});
let speech: SpeechSetup;
beforeAll(async () => {
  speech = await setUpSpeech({ asr, settings: { maxUploadBytes: 2_000_000, maxUploadS: 60 } });
});
beforeEach(() => {
  asr.heard.length = 0;
});
afterAll(() => speech.stop());

function wav(samples: Int16Array, rateHz = RATE_HZ): Uint8Array {
  return Buffer.concat([wavHeader(rateHz, samples.byteLength), new Uint8Array(samples.buffer)]);
}

/** A second of a low voice, a second of silence, a second of a high voice. */
const TWO_VOICES = wav(
  joined(silence(500), tone(400, 1_000, RATE_HZ), silence(1_000), tone(1_000, 1_000, RATE_HZ), silence(700)),
);

function form(audio: Uint8Array | null, fields: Record<string, string> = {}): FormData {
  const data = new FormData();
  if (audio) data.set('audio', new Blob([Uint8Array.from(audio)]), 'speech.wav');
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
}

interface Segment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const transcription = async (reply: Response) =>
  (await reply.json()) as { text: string; duration: number; segments: Segment[] };
const message = async (reply: Response) => ((await reply.json()) as { message: string }).message;
const wrongField = async (reply: Response) => ((await reply.json()) as { loc: string[] }[])[0]?.loc[1];

const multipart = { 'content-type': undefined };
const msgpack = { 'content-type': 'application/msgpack' };

test('an upload becomes text, its length in seconds, and segments with their times', async () => {
  const reply = await speech.post(
    '/v1/asr',
    form(TWO_VOICES, { language: 'en', ignore_timestamps: 'false' }),
    multipart,
  );

  const body = await transcription(reply);
  expect(reply.status).toBe(200);
  expect(body).toMatchObject({ text: 'low high', duration: 4.2, language_code: 'en', language: 'English' });
  const [low, high] = body.segments;
  expect(low).toMatchObject({ text: 'low' });
  expect(low?.start).toBeCloseTo(0.2, 1);
  expect(low?.end).toBeGreaterThan(1.5);
  expect(high?.start).toBeGreaterThan((low?.end ?? 9) - 0.01);
  expect(high?.end).toBeLessThanOrEqual(4.2);
});

test('MessagePack says the same as a form', async () => {
  const body = encode({ audio: TWO_VOICES, ignore_timestamps: false, language: null });

  const reply = await speech.post('/v1/asr', body, msgpack);

  expect(reply.status).toBe(200);
  expect(await reply.json()).toMatchObject({ text: 'low high', duration: 4.2 });
});

test('the recogniser hears what was said, at its own rate', async () => {
  const upload = wav(joined(silence(500, 44_100), tone(400, 1_000, 44_100), silence(800, 44_100)), 44_100);

  await (await speech.post('/v1/asr', form(upload), multipart)).json();

  const [utterance] = asr.heard;
  const middle = utterance?.samples.slice(8_000, 16_000) ?? new Int16Array();
  expect(toneShare(middle, RATE_HZ, 400)).toBeGreaterThan(0.98);
});

test('seconds are settled, rounded up', async () => {
  await (await speech.post('/v1/asr', form(TWO_VOICES), multipart)).json();

  await eventually('usage', 3_000, () => speech.usage.find((usage) => usage.kind === 'asr') ?? null);
  expect(speech.usage.find((usage) => usage.kind === 'asr')).toMatchObject({
    quantity: 5,
    workspaceId: 'ws1',
  });
});

test('silence is understood as nothing, and no recogniser hears it', async () => {
  const reply = await speech.post('/v1/asr', form(wav(silence(3_000))), multipart);

  expect(await reply.json()).toMatchObject({ text: '', duration: 3, segments: [] });
  expect(asr.heard).toEqual([]);
});

test('speech without a pause is cut into parts that recognisers can take, and nothing of it is lost', async () => {
  const reply = await speech.post('/v1/asr', form(wav(tone(400, 59_000, RATE_HZ))), multipart);

  const { segments } = await transcription(reply);
  expect(reply.status).toBe(200);
  expect(asr.heard.map((utterance) => utterance.samples.length / RATE_HZ)).toSatisfy((lengths: number[]) =>
    lengths.every((seconds) => seconds <= 28.1),
  );
  const total = asr.heard.reduce((sum, utterance) => sum + utterance.samples.length / RATE_HZ, 0);
  expect(total).toBeGreaterThan(58.8);
  const starts = segments.map((segment) => segment.start);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
});

test('parts are recognised side by side, up to the bound, and all recognisers are given back', async () => {
  const parts = Array.from({ length: 6 }, () => [tone(400, 400, RATE_HZ), silence(800)]).flat();
  asr.sessions.most = 0;

  const reply = await speech.post('/v1/asr', form(wav(joined(...parts))), multipart);

  expect((await transcription(reply)).segments).toHaveLength(6);
  expect(asr.sessions).toEqual({ now: 0, most: 2 });
});

test.each([
  ['shorter than a second', wav(tone(400, 900, RATE_HZ)), 'shorter than 1 second'],
  ['longer than allowed', wav(silence(61_000)), 'longer than 60 seconds'],
  ['cut off in its header', Buffer.from('RIFF\0\0\0\0WAVEfmt '), 'no data'],
  ['empty', new Uint8Array(0), 'empty'],
])('audio that is %s is 422', async (_what, audio, words) => {
  const reply = await speech.post('/v1/asr', form(audio), multipart);

  expect(reply.status).toBe(422);
  expect(await reply.json()).toMatchObject([{ loc: ['body', 'audio'], msg: expect.stringContaining(words) }]);
});

test('missing audio, audio that is no file, and a wrong flag are 422', async () => {
  const replies = await Promise.all([
    speech.post('/v1/asr', form(null, { language: 'en' }), multipart),
    speech.post('/v1/asr', encode({ audio: 'UklGRg==' }), msgpack),
    speech.post('/v1/asr', form(TWO_VOICES, { ignore_timestamps: 'perhaps' }), multipart),
    speech.post('/v1/asr', form(TWO_VOICES, { language: 'ja' }), multipart),
  ]);

  const locs = await Promise.all(replies.map(async (reply) => [reply.status, await wrongField(reply)]));
  expect(locs).toEqual([
    [422, 'audio'],
    [422, 'audio'],
    [422, 'ignore_timestamps'],
    [422, 'language'],
  ]);
});

test('a format that nobody reads is 415 and says what is read', async () => {
  const reply = await speech.post('/v1/asr', form(Buffer.from('this is no audio at all, is it?')), multipart);

  expect(reply.status).toBe(415);
  expect(await message(reply)).toContain('wav, mp3, ogg');
});

test.each([
  ['a form', form(Buffer.alloc(2_050_000)), multipart],
  ['MessagePack', encode({ audio: Buffer.alloc(2_050_000) }), msgpack],
  ['anything', Buffer.alloc(4_000_000), msgpack],
])('an upload of more than 2 MB as %s is 413', async (_what, body, headers) => {
  const reply = await speech.post('/v1/asr', body, headers);

  expect(reply.status).toBe(413);
  expect(await reply.json()).toEqual({ status: 413, message: 'Payload too large', reason: null });
});

test('JSON is a bare 415, a broken form 400 in plain text', async () => {
  const json = await speech.post('/v1/asr', { audio: 'x' });
  const broken = await speech.post('/v1/asr', 'no parts', { 'content-type': 'multipart/form-data' });
  const cut = await speech.post('/v1/asr', '--x\r\nContent-Disposition: form-data; name="audio"\r\n\r\nabc', {
    'content-type': 'multipart/form-data; boundary=x',
  });

  expect([json.status, await json.text()]).toEqual([415, '']);
  expect([broken.status, broken.headers.get('content-type')]).toEqual([400, 'text/plain; charset=utf-8']);
  expect(cut.status).toBe(400);
});

test('without a free recogniser it is 503', async () => {
  const busy = await Promise.all([0, 1, 2].map(() => asr.open({ language: 'en', keyterms: [] })));

  const reply = await speech.post('/v1/asr', form(TWO_VOICES), multipart);

  expect(reply.status).toBe(503);
  await Promise.all(busy.map((session) => session.close()));
});

test('without credit it is 402', async () => {
  const poor = await setUpSpeech({ asr });
  poor.account.isOutOfCredit = true;

  const reply = await poor.post('/v1/asr', form(TWO_VOICES), multipart);

  expect([reply.status, await message(reply)]).toEqual([402, 'Out of API credit']);
  await poor.stop();
});
