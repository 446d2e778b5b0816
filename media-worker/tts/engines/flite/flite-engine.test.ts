import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../../../shared/log.ts';
import { systemClock } from '../../../../shared/time.ts';
import { trimSilence } from '../../trim-silence.ts';
import type { SpeechRequest, SpokenWord } from '../../tts-engine.ts';
import { FliteEngine } from './flite-engine.ts';

const engine = new FliteEngine({ clock: systemClock, log: silentLogger });
beforeAll(() => engine.prewarm());
afterAll(() => engine.close());

async function speak(text: string, change: Partial<SpeechRequest> = {}) {
  const words: SpokenWord[] = [];
  const pieces: Int16Array[] = [];
  let rateHz = 0;
  const request = { text, voice: null, language: 'en', speed: 1, ...change };
  for await (const chunk of engine.synthesize(request, new AbortController().signal)) {
    if (chunk.type === 'words') words.push(...chunk.words);
    else {
      pieces.push(chunk.samples);
      rateHz = chunk.sampleRateHz;
    }
  }
  const samples = Int16Array.from(pieces.flatMap((piece) => [...piece]));
  return { words, samples, rateHz, totalMs: (samples.length * 1000) / rateHz };
}

test('speaks at 16 kHz and begins within 40 ms of its audio', async () => {
  const { samples, rateHz } = await speak('Good morning.');

  expect(rateHz).toBe(16_000);
  const trimmed = trimSilence(samples, rateHz, { leadMs: 0, tailMs: 0 });
  expect(trimmed?.cutMs).toBeLessThan(60);
});

test('a number is one word, as long as the words it is spoken with', async () => {
  const { words } = await speak('It is 1234567 miles.');

  const [it, , number] = words;
  expect(words.map((word) => word.text)).toEqual(['It', 'is', '1234567', 'miles.']);
  expect((number?.endMs ?? 0) - (number?.startMs ?? 0)).toBeGreaterThan(
    8 * ((it?.endMs ?? 0) - (it?.startMs ?? 0)),
  );
});

test('word times are those of the sounds: a pause lies between the clauses', async () => {
  const { words } = await speak('I see the apple tree; the other one is gone.');

  const tree = words.find((word) => word.text === 'tree;');
  const next = words[words.findIndex((word) => word.text === 'tree;') + 1];
  expect((next?.startMs ?? 0) - (tree?.endMs ?? 0)).toBeGreaterThan(80);
  expect(words.every((word) => !word.isEstimated)).toBe(true);
});

test('tokens without a sound keep their place', async () => {
  const { words } = await speak('Wait — “really” … yes, caf\u00e9!');

  expect(words.map((word) => word.text).join(' ')).toBe('Wait — “really” … yes, café!');
  expect(words[1]?.endMs).toBe(words[1]?.startMs);
});

test('each voice sounds different', async () => {
  const spoken = await Promise.all(
    ['slt', 'rms', 'awb', 'kal16'].map((voice) => speak('Good day.', { voice })),
  );

  expect(new Set(spoken.map(({ samples }) => samples.slice(0, 8_000).join())).size).toBe(4);
});

test('no voice named means slt', async () => {
  const [named, unnamed] = [await speak('Good day.', { voice: 'slt' }), await speak('Good day.')];

  expect(unnamed.samples.length).toBe(named.samples.length);
});

test.each([
  ['a voice that it does not have', 'Hello.', { voice: 'nobody' }],
  ['Chinese', '你好', {}],
  ['Cyrillic in an English sentence', 'The word is привет.', {}],
  ['another language', 'Guten Tag', { language: 'de' }],
])('%s is refused', async (_what, text, change) => {
  await expect(speak(text, change)).rejects.toMatchObject({ kind: 'unprocessable' });
});

test.each([
  '<speak>hi</speak>',
  '-voice awb',
  'a\0b',
  '\ud800 lone',
  '%s%n "quoted" \\ `x`',
  '$(reboot); ls',
])('hostile text %j is spoken or refused, and the next sentence is spoken', async (text) => {
  await speak(text).catch((error: unknown) => expect(error).toMatchObject({ name: 'Failure' }));

  expect((await speak('Still here.')).totalMs).toBeGreaterThan(400);
});
