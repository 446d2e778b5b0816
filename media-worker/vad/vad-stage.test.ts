import { expect, test } from 'vitest';
import { createLoudnessVad } from '../../test/fakes/loudness-vad.ts';
import { tone } from '../../test/support/pitch.ts';
import { joined, pieces, silence, speechSample } from '../../test/support/speech-samples.ts';
import type { AudioFrame } from '../frame.ts';
import { createSileroVad } from './engines/silero/silero-vad.ts';
import { VadStage } from './vad-stage.ts';

const RATE_HZ = 16_000;

/** Frames of `frameMs`, the first at `fromMs`. */
function framesOf(samples: Int16Array, frameMs: number, fromMs = 0): AudioFrame[] {
  return pieces(samples, (RATE_HZ * frameMs) / 1000).map((piece, i) => ({
    samples: piece,
    sampleRateHz: RATE_HZ,
    startMs: fromMs + i * frameMs,
  }));
}

test('frames of 10 ms become one decision every 32 ms, at its own media time', () => {
  const stage = new VadStage(createLoudnessVad());

  const decisions = framesOf(silence(320), 10, 500).flatMap((frame) => stage.push(frame));

  expect(decisions.map((d) => d.atMs)).toEqual([532, 564, 596, 628, 660, 692, 724, 756, 788, 820]);
});

test('how the audio is cut into frames changes no decision', async () => {
  const engine = await createSileroVad();
  const audio = joined(silence(300), speechSample('slt'), silence(500)).slice(0, 48_000);

  const [fine, coarse] = [10, 250].map((frameMs) => {
    const stage = new VadStage(engine);
    return framesOf(audio, frameMs).flatMap((frame) => stage.push(frame));
  });

  expect(fine).toHaveLength(93);
  expect(coarse).toEqual(fine);
});

test('a voice between two silences starts and ends once, near where it lies', () => {
  const stage = new VadStage(createLoudnessVad());
  const audio = joined(silence(1_000), tone(400, 800, RATE_HZ), silence(1_000));

  const decisions = framesOf(audio, 10).flatMap((frame) => stage.push(frame));

  const [started, ended, ...more] = decisions.flatMap((d) => d.boundary ?? []);
  expect(more).toEqual([]);
  expect(started?.type === 'started' && Math.abs(started.onsetMs - 1_000)).toBeLessThanOrEqual(32);
  expect(started?.atMs).toBeLessThanOrEqual(1_096);
  expect(ended?.type === 'ended' && Math.abs(ended.lastSpeechMs - 1_800)).toBeLessThanOrEqual(32);
  const spoken = decisions.filter((d) => d.speaking).map((d) => d.atMs);
  expect(spoken[0]).toBe(started?.atMs);
  expect(Math.max(...spoken)).toBe((ended?.atMs ?? 0) - 32);
});

test('where media time jumps, samples from before and after never share a window', () => {
  const stage = new VadStage(createLoudnessVad());
  const before = framesOf(tone(400, 30, RATE_HZ), 10);
  const after = framesOf(silence(64), 10, 9_000);

  const decisions = [...before, ...after].flatMap((frame) => stage.push(frame));

  expect(decisions.map((d) => [d.atMs, d.probability])).toEqual([
    [9_032, 0],
    [9_064, 0],
  ]);
});

test('another rate than the engine’s is refused', () => {
  const stage = new VadStage(createLoudnessVad());

  const frame = { samples: new Int16Array(480), sampleRateHz: 48_000, startMs: 0 };

  expect(() => stage.push(frame)).toThrow(RangeError);
});

test('a closed stage has freed its stream', () => {
  const stage = new VadStage(createLoudnessVad());

  stage.close();
  stage.close();

  expect(() => stage.push({ samples: silence(32), sampleRateHz: RATE_HZ, startMs: 0 })).toThrow(/closed/);
});
