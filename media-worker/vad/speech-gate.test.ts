import { expect, test } from 'vitest';
import { type SpeechBoundary, SpeechGate, type SpeechGateOptions } from './speech-gate.ts';

const PROBABILITIES: Readonly<Record<string, number>> = { s: 0.9, m: 0.4, '.': 0.1 };
const FRAME_MS = 20;

/** 's' surely speech, 'm' between the thresholds, '.' silence; 20 ms each, from 1000 ms on. */
function run(script: string, options: Partial<SpeechGateOptions> = {}): SpeechBoundary[] {
  const gate = new SpeechGate({ minSpeechMs: 40, hangoverMs: 60, preRollMs: 300, ...options });
  return [...script].flatMap((sign, i) => {
    const startMs = 1_000 + i * FRAME_MS;
    return gate.push({ probability: PROBABILITIES[sign] ?? 0, startMs, endMs: startMs + FRAME_MS });
  });
}

test('speech starts when a voice has lasted minSpeechMs, and its onset is told backdated', () => {
  const events = run('..ss');

  expect(events).toEqual([{ type: 'started', atMs: 1_080, onsetMs: 1_040, audioFromMs: 740 }]);
});

test('a click shorter than minSpeechMs is no speech, however often it comes', () => {
  expect(run('.s.s.s.s.s.')).toEqual([]);
});

test('a dip between the thresholds does not restart the count', () => {
  const events = run('.sms', { minSpeechMs: 60 });

  expect(events).toEqual([expect.objectContaining({ type: 'started', onsetMs: 1_020, atMs: 1_080 })]);
});

test('what lies between the thresholds never starts speech', () => {
  expect(run('mmmmmmmm')).toEqual([]);
  expect(run('.smmmmm')).toEqual([]);
});

test('speech ends after hangoverMs of silence, and the last speech is told backdated', () => {
  const events = run('ssss...');

  expect(events.at(-1)).toEqual({ type: 'ended', atMs: 1_140, lastSpeechMs: 1_080 });
});

test('a pause shorter than hangoverMs does not end speech', () => {
  expect(run('ss..ss..ss..s').map((e) => e.type)).toEqual(['started']);
});

test('what lies between the thresholds keeps speech going', () => {
  expect(run('ssmmmmmmmm').map((e) => e.type)).toEqual(['started']);
  expect(run('ssmm...').at(-1)).toEqual({ type: 'ended', atMs: 1_140, lastSpeechMs: 1_080 });
});

test('the pre-roll never reaches back into speech that was told before', () => {
  const events = run('ss...ss');

  expect(events.map((e) => e.type)).toEqual(['started', 'ended', 'started']);
  expect(events[2]).toEqual({ type: 'started', atMs: 1_140, onsetMs: 1_100, audioFromMs: 1_100 });
});

test('the pre-roll never reaches back before the first frame of the session', () => {
  const gate = new SpeechGate({ minSpeechMs: 20 });

  const [started] = gate.push({ probability: 0.9, startMs: 0, endMs: 32 });

  expect(started).toMatchObject({ onsetMs: 0, audioFromMs: 0 });
});

test('audio that stops coming ends speech at the next frame, wherever the voice goes on', () => {
  const gate = new SpeechGate({ minSpeechMs: 20, hangoverMs: 300 });
  gate.push({ probability: 0.9, startMs: 0, endMs: 32 });

  const events = [5_000, 5_032].flatMap((startMs) =>
    gate.push({ probability: 0.9, startMs, endMs: startMs + 32 }),
  );

  expect(events).toEqual([
    { type: 'ended', atMs: 5_032, lastSpeechMs: 32 },
    { type: 'started', atMs: 5_064, onsetMs: 5_032, audioFromMs: 5_032 },
  ]);
});

test('by default two frames of the engine start speech and 300 ms of silence end it', () => {
  const gate = new SpeechGate();
  const frames = [...'sss...........'].map((sign, i) => ({
    probability: PROBABILITIES[sign] ?? 0,
    startMs: i * 32,
    endMs: (i + 1) * 32,
  }));

  const events = frames.flatMap((frame) => gate.push(frame));

  expect(events).toEqual([
    { type: 'started', atMs: 64, onsetMs: 0, audioFromMs: 0 },
    { type: 'ended', atMs: 416, lastSpeechMs: 96 },
  ]);
});

test('thresholds the wrong way round are refused', () => {
  expect(() => new SpeechGate({ startProbability: 0.3, endProbability: 0.5 })).toThrow(RangeError);
});
