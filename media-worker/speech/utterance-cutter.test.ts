import { expect, test } from 'vitest';
import { createLoudnessVad } from '../../test/fakes/loudness-vad.ts';
import { tone } from '../../test/support/pitch.ts';
import { joined, pieces, silence } from '../../test/support/speech-samples.ts';
import { type Utterance, UtteranceCutter } from './utterance-cutter.ts';

const RATE_HZ = 16_000;

function cut(recording: Int16Array, pieceSamples = RATE_HZ): Utterance[] {
  const cutter = new UtteranceCutter(createLoudnessVad());
  const found = [
    ...pieces(recording, pieceSamples).flatMap((piece) => cutter.push(piece)),
    ...cutter.flush(),
  ];
  cutter.close();
  return found;
}

const seconds = ({ startMs, endMs }: Utterance) => [startMs / 1000, endMs / 1000];
const voice = (ms: number) => tone(400, ms, RATE_HZ);

test('speech is found where it lies, with a little before its beginning', () => {
  const [found, ...more] = cut(joined(silence(2_000), voice(1_000), silence(2_000)));

  const [start = 0, end = 0] = found ? seconds(found) : [];
  expect(more).toEqual([]);
  expect(start).toBeGreaterThan(1.6);
  expect(start).toBeLessThan(1.75);
  expect(end).toBeGreaterThan(3);
  expect(end).toBeLessThan(3.6);
  expect(found?.samples.length).toBe(Math.round((end - start) * RATE_HZ));
});

test('how the recording comes in changes nothing', () => {
  const recording = joined(silence(500), voice(700), silence(900), voice(1_100), silence(900));

  expect(cut(recording, 333).map(seconds)).toEqual(cut(recording).map(seconds));
});

test('a pause within a sentence does not cut it, a longer one does', () => {
  expect(cut(joined(voice(800), silence(300), voice(800), silence(700)))).toHaveLength(1);
  expect(cut(joined(voice(800), silence(700), voice(800), silence(700)))).toHaveLength(2);
});

test('a long speech is cut at its next short pause, and the cut loses nothing', () => {
  const recording = joined(voice(16_000), silence(100), voice(3_000), silence(700));

  const [first, second] = cut(recording);

  expect(first?.endMs).toBeGreaterThan(15_900);
  expect(first?.endMs).toBeLessThan(16_200);
  expect(second?.startMs).toBe(first?.endMs);
});

test('speech without any pause is cut all the same', () => {
  const found = cut(voice(60_000));

  expect(found.map(({ samples }) => samples.length / RATE_HZ).every((length) => length < 28.1)).toBe(true);
  for (const [i, part] of found.entries()) expect(part.startMs).toBe(found[i - 1]?.endMs ?? 0);
  expect(found.at(-1)?.endMs).toBeGreaterThan(59_900);
});

test('speech that the recording breaks off is not lost', () => {
  const [found] = cut(joined(silence(1_000), voice(1_000)));

  expect(found?.endMs).toBeGreaterThan(1_950);
});

test('silence has no speech', () => {
  expect(cut(silence(30_000))).toEqual([]);
});
