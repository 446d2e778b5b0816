import { beforeAll, expect, test } from 'vitest';
import { tone, toneShare } from '../../test/support/pitch.ts';
import { joined, pieces } from '../../test/support/speech-samples.ts';
import type { AudioFrame } from '../frame.ts';
import { RateFollower } from './rate-follower.ts';
import { loadResampler, type OpenResampler } from './resample.ts';

let open: OpenResampler;
beforeAll(async () => {
  open = await loadResampler();
});

function pushed(follower: RateFollower, samples: Int16Array, rateHz: number): AudioFrame[] {
  return pieces(samples, rateHz / 100).flatMap((piece) => follower.push(piece, rateHz));
}

function soundOf(frames: readonly AudioFrame[]): Int16Array {
  return joined(...frames.map((frame) => frame.samples));
}

test('any rate becomes frames of 10 ms at 16 kHz, each at its media time', () => {
  for (const rateHz of [8_000, 16_000, 22_050, 44_100, 48_000]) {
    const follower = new RateFollower(open);

    const frames = pushed(follower, tone(400, 1_000, rateHz), rateHz);

    expect(frames.length).toBeGreaterThanOrEqual(99);
    expect(frames.every((f) => f.samples.length === 160 && f.sampleRateHz === 16_000)).toBe(true);
    expect(frames.map((f) => f.startMs)).toEqual(frames.map((_, i) => i * 10));
    expect(toneShare(soundOf(frames), 16_000, 400)).toBeGreaterThan(0.999);
    follower.close();
  }
});

test('each frame has a buffer of its own', () => {
  const follower = new RateFollower(open);

  const frames = pushed(follower, tone(400, 100, 48_000), 48_000);

  expect(new Set(frames.map((f) => f.samples.buffer)).size).toBe(frames.length);
  expect(frames.every((f) => f.samples.buffer.byteLength === 320)).toBe(true);
  follower.close();
});

test('a change of rate loses no time and keeps the pitch', () => {
  const follower = new RateFollower(open);

  const frames = [
    ...pushed(follower, tone(400, 500, 16_000), 16_000),
    ...pushed(follower, tone(400, 500, 48_000), 48_000),
    ...pushed(follower, tone(400, 500, 8_000), 8_000),
    ...pushed(follower, tone(400, 500, 16_000), 16_000),
  ];

  expect(frames).toHaveLength(200);
  expect(frames.map((f) => f.startMs)).toEqual(frames.map((_, i) => i * 10));
  // Each stretch began and ended at phase zero: one tone throughout, its joints included.
  expect(toneShare(soundOf(frames), 16_000, 400)).toBeGreaterThan(0.999);
});

test('a tone that begins after a change lies at its own time', () => {
  const follower = new RateFollower(open);
  pushed(follower, new Int16Array(3_200), 16_000);
  const frames = pushed(follower, joined(new Int16Array(14_400), tone(1_000, 200, 48_000)), 48_000);
  follower.close();

  const loud = frames.filter((f) => toneShare(f.samples, 16_000, 1_000) > 0.9);

  expect(loud[0]?.startMs).toBe(500);
});

test('two hundred seconds do not drift', () => {
  const follower = new RateFollower(open);
  const piece = new Int16Array(441);

  let last: AudioFrame | undefined;
  for (let i = 0; i < 20_000; i++) last = follower.push(piece, 44_100).at(-1) ?? last;

  // 200 s went in; all but the filter's latency and one begun frame came out.
  expect(last?.startMs).toBeGreaterThanOrEqual(199_970);
  expect(last?.startMs).toBeLessThanOrEqual(199_990);
  follower.close();
});

test('after close nothing is held and the next sound opens anew', () => {
  const follower = new RateFollower(open);
  pushed(follower, tone(400, 100, 48_000), 48_000);

  follower.close();
  follower.close();

  expect(() => follower.push(new Int16Array(480), 48_000)).not.toThrow();
  follower.close();
});
