import { expect, test } from 'vitest';
import { levelDb, tone } from '../../test/support/pitch.ts';
import { Level } from './level.ts';

const RATE_HZ = 16_000;

function apply(level: Level, samples: Int16Array, pieceMs = 200): Int16Array {
  const out = samples.slice();
  const length = (RATE_HZ * pieceMs) / 1000;
  for (let at = 0; at < out.length; at += length) level.apply(out.subarray(at, at + length), RATE_HZ);
  return out;
}

test('without a wish nothing is touched', () => {
  const samples = tone(400, 1_000, RATE_HZ, 20_000);

  expect(apply(new Level({ volumeDb: 0, normalizes: false }), samples)).toEqual(samples);
});

test.each([-20, -6, 6])('a volume of %i dB is that many dB', (volumeDb) => {
  const samples = tone(400, 1_000, RATE_HZ, 2_000);

  const out = apply(new Level({ volumeDb, normalizes: false }), samples);

  expect(levelDb(out, samples)).toBeCloseTo(volumeDb, 1);
});

test('what is made too loud is bent, never wrapped or cut flat', () => {
  const samples = tone(400, 1_000, RATE_HZ, 20_000);

  const out = apply(new Level({ volumeDb: 20, normalizes: false }), samples);

  expect(Math.max(...out)).toBeLessThan(32_768);
  for (const [i, sample] of out.entries()) expect(sample * (samples[i] ?? 0)).toBeGreaterThanOrEqual(0);
});

test('quiet and loud voices come together', () => {
  const [quiet, loud] = [800, 16_000].map((amplitude) => {
    const level = new Level({ volumeDb: 0, normalizes: true });
    return apply(level, tone(400, 20_000, RATE_HZ, amplitude)).slice(-RATE_HZ);
  });

  const before = levelDb(tone(400, 1_000, RATE_HZ, 16_000), tone(400, 1_000, RATE_HZ, 800));
  const after = levelDb(loud ?? new Int16Array(1), quiet ?? new Int16Array(1));
  expect(before).toBeGreaterThan(25);
  expect(after).toBeLessThan(before - 12);
});

test('the gain never jumps: no piece of audio begins far from where the last one ended', () => {
  const level = new Level({ volumeDb: 0, normalizes: true });
  const samples = Int16Array.from({ length: RATE_HZ * 4 }, (_, i) => (i < RATE_HZ * 2 ? 1_000 : 12_000));

  const out = apply(level, samples);

  for (let i = 1; i < out.length; i++) {
    if (i === RATE_HZ * 2) continue;
    expect(Math.abs((out[i] ?? 0) - (out[i - 1] ?? 0))).toBeLessThan(20);
  }
});

test('a pause does not make what follows louder', () => {
  const level = new Level({ volumeDb: 0, normalizes: true });
  const voice = tone(400, 3_000, RATE_HZ, 4_000);
  const before = apply(level, voice).slice(-3_200);

  apply(level, new Int16Array(RATE_HZ * 30));
  const after = apply(level, voice).slice(0, 3_200);

  expect(Math.abs(levelDb(after, before))).toBeLessThan(0.5);
});
