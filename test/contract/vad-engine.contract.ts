import { describe, expect, test } from 'vitest';
import type { VadEngine, VadStream } from '../../media-worker/vad/vad-engine.ts';
import { noise } from '../support/noise.ts';
import { joined, pieces, silence, speechSample } from '../support/speech-samples.ts';

/** The promises of the `VadEngine` port. */
export function vadEngineContract(name: string, create: () => Promise<VadEngine>): void {
  describe(`voice activity by ${name}`, () => {
    const judge = (stream: VadStream, frames: readonly Int16Array[]) =>
      frames.map((frame) => stream.probability(frame));
    const framesOf = (engine: VadEngine, samples: Int16Array) =>
      pieces(samples, engine.frameSamples).filter((frame) => frame.length === engine.frameSamples);

    test('answers 0 to 1 for silence, speech, noise and the loudest square wave', async () => {
      const engine = await create();
      const square = Int16Array.from({ length: 16_000 }, (_, i) => (i % 80 < 40 ? 32_767 : -32_768));

      const signal = joined(silence(500), speechSample('slt'), noise('white', 16_000, 8_000), square);
      const answers = judge(engine.open(), framesOf(engine, signal));

      expect(answers.length).toBeGreaterThan(100);
      expect(answers.every((p) => p >= 0 && p <= 1)).toBe(true);
    });

    test('speech scores high, silence low', async () => {
      const engine = await create();
      const stream = engine.open();

      const quiet = judge(stream, framesOf(engine, silence(1_000)));
      const spoken = judge(stream, framesOf(engine, speechSample('slt')));

      expect(Math.max(...quiet)).toBeLessThan(0.2);
      expect(spoken.filter((p) => p > 0.5).length / spoken.length).toBeGreaterThan(0.6);
    });

    test('streams of one engine do not hear each other', async () => {
      const engine = await create();
      const [slt, rms] = [framesOf(engine, speechSample('slt')), framesOf(engine, speechSample('rms'))];
      const alone = judge(engine.open(), slt);
      const [first, second] = [engine.open(), engine.open()];

      const beside = slt.map((frame, i) => {
        second.probability(rms[i % rms.length] ?? frame);
        return first.probability(frame);
      });

      expect(beside).toEqual(alone);
    });

    test('reset forgets what was heard', async () => {
      const engine = await create();
      const stream = engine.open();
      const frames = framesOf(engine, speechSample('awb'));
      const first = judge(stream, frames);

      const unforgotten = judge(stream, frames);
      stream.reset();
      const afterReset = judge(stream, frames);

      expect(afterReset).toEqual(first);
      if (engine.name !== 'loudness') expect(unforgotten).not.toEqual(first);
    });

    test('leaves the samples as they are', async () => {
      const engine = await create();
      const frame = speechSample('slt').slice(8_000, 8_000 + engine.frameSamples);
      const before = frame.slice();

      engine.open().probability(frame);

      expect(frame).toEqual(before);
    });

    test('refuses a frame of another length', async () => {
      const engine = await create();
      const stream = engine.open();

      expect(() => stream.probability(new Int16Array(engine.frameSamples - 1))).toThrow(RangeError);
      expect(() => stream.probability(new Int16Array(engine.frameSamples + 1))).toThrow(RangeError);
    });

    test('a closed stream refuses frames and may be closed twice', async () => {
      const engine = await create();
      const stream = engine.open();

      stream.close();
      stream.close();

      expect(() => stream.probability(new Int16Array(engine.frameSamples))).toThrow(/closed/);
      expect(() => stream.reset()).toThrow(/closed/);
    });

    test('a stream opened after another was closed starts without its past', async () => {
      const engine = await create();
      const frames = framesOf(engine, speechSample('kal'));
      const first = engine.open();
      const fresh = judge(first, frames);
      first.close();
      first.close();

      const [next, other] = [engine.open(), engine.open()];
      judge(other, framesOf(engine, speechSample('rms')));

      expect(judge(next, frames)).toEqual(fresh);
    });

    test('thousands of streams are open at once', async () => {
      const engine = await create();
      const frames = framesOf(engine, speechSample('slt')).slice(0, 30);
      const first = engine.open();
      const half = judge(first, frames.slice(0, 15));
      const streams = Array.from({ length: 3_000 }, () => engine.open());

      const rest = judge(first, frames.slice(15));
      const last = judge(streams[2_999] ?? engine.open(), frames);

      expect([...half, ...rest]).toEqual(last);
    });
  });
}
