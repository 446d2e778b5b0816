import { describe, expect, onTestFinished, test } from 'vitest';
import type { AsrEngine, AsrSession, Transcript } from '../../media-worker/asr/asr-engine.ts';
import { FrameQueue } from '../../media-worker/asr/frame-queue.ts';
import type { AudioFrame } from '../../media-worker/frame.ts';
import { wordErrors } from '../support/word-errors.ts';

const RATE_HZ = 16_000;
const FRAME_SAMPLES = RATE_HZ / 100;

export interface AsrSubject {
  readonly engine: AsrEngine;
  readonly dispose?: () => Promise<void>;
}

/** Sound and what is said in it. */
export interface Said {
  readonly samples: Int16Array;
  readonly text: string;
}

export interface AsrSubjects {
  /** Understands both of `said`, and has room for two callers at least. */
  readonly hears: () => Promise<AsrSubject>;
  readonly said: readonly [Said, Said];
  /** Share of words that may be wrong, 0 to 1. */
  readonly tolerance: number;
  /** Can't answer; null where that can't be brought about. */
  readonly fails: (() => Promise<AsrSubject>) | null;
  /** Has room for one caller; null for an engine without bound. */
  readonly roomForOne: (() => Promise<AsrSubject>) | null;
}

/** Frames of 10 ms at 16 kHz, in media time from `startMs`. */
export function frames(samples: Int16Array, startMs = 0): AudioFrame[] {
  const cut: AudioFrame[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES)
    cut.push({
      samples: samples.slice(at, at + FRAME_SAMPLES),
      sampleRateHz: RATE_HZ,
      startMs: startMs + (at * 1000) / RATE_HZ,
    });
  return cut;
}

export function queued(said: readonly AudioFrame[], { isEnded = true } = {}): FrameQueue {
  const queue = new FrameQueue();
  for (const frame of said) queue.push(frame);
  if (isEnded) queue.end();
  return queue;
}

export async function collect(
  session: AsrSession,
  audio: AsyncIterable<AudioFrame>,
  signal = new AbortController().signal,
): Promise<Transcript[]> {
  const heard: Transcript[] = [];
  for await (const transcript of session.transcribe(audio, signal)) heard.push(transcript);
  return heard;
}

/** The promises of the `AsrEngine` port. */
export function asrEngineContract(name: string, subjects: AsrSubjects): void {
  const [first, second] = subjects.said;
  const english = { language: 'en', keyterms: [] };

  function expectUnderstood(heard: Transcript | undefined, said: Said): void {
    const { errors, words } = wordErrors(said.text, heard?.text ?? '');
    expect(errors / words, `"${heard?.text}" for "${said.text}"`).toBeLessThanOrEqual(subjects.tolerance);
  }

  async function setUp(create = subjects.hears): Promise<AsrEngine> {
    const { engine, dispose } = await create();
    onTestFinished(async () => {
      await engine.close();
      await dispose?.();
    });
    return engine;
  }

  describe(`recognition by ${name}`, () => {
    test('the audio has ended: exactly one final comes, as the last, with what was said', async () => {
      const session = await (await setUp()).open(english);

      const heard = await collect(session, queued(frames(first.samples)));

      expect(heard.map((t) => t.isFinal)).toEqual([...Array(heard.length - 1).fill(false), true]);
      expectUnderstood(heard.at(-1), first);
    });

    test('audio that ends before it has begun gives a final without text', async () => {
      const session = await (await setUp()).open(english);

      const heard = await collect(session, queued([]));

      expect(heard).toMatchObject([{ isFinal: true, text: '' }]);
    });

    test('silence gives a final without text', async () => {
      const session = await (await setUp()).open(english);

      const heard = await collect(session, queued(frames(new Int16Array(RATE_HZ))));

      expect(heard.at(-1)).toMatchObject({ isFinal: true, text: '' });
    });

    test('partials come while the caller speaks, if the engine has them', async () => {
      const engine = await setUp();
      const session = await engine.open(english);
      const audio = queued(frames(first.samples), { isEnded: false });

      if (!engine.hasPartials) audio.end();
      let heard: Transcript | null = null;
      for await (const transcript of session.transcribe(audio, new AbortController().signal)) {
        heard = transcript;
        if (engine.hasPartials) break;
      }

      expect(heard?.isFinal).toBe(!engine.hasPartials);
      expect(heard?.text).not.toBe('');
    });

    test('times lie within the media time of the audio, confidence between 0 and 1', async () => {
      const session = await (await setUp()).open(english);
      const lengthMs = Math.floor((first.samples.length * 100) / RATE_HZ) * 10;

      for (const heard of await collect(session, queued(frames(first.samples, 7_000)))) {
        expect(heard.startMs).toBeGreaterThanOrEqual(7_000);
        expect(heard.endMs).toBeGreaterThanOrEqual(heard.startMs);
        expect(heard.endMs).toBeLessThanOrEqual(7_000 + lengthMs);
        expect(heard.confidence ?? 0.5).toBeGreaterThanOrEqual(0);
        expect(heard.confidence ?? 0.5).toBeLessThanOrEqual(1);
      }
    });

    test('a signal that has aborted gets nothing', async () => {
      const session = await (await setUp()).open(english);

      expect(await collect(session, queued(frames(first.samples)), AbortSignal.abort())).toEqual([]);
    });

    test('aborting while audio is waited for ends the iteration within 50 ms, without an error', async () => {
      const session = await (await setUp()).open(english);
      const stop = new AbortController();
      const said = frames(first.samples).slice(0, 20);
      const heard = collect(session, queued(said, { isEnded: false }), stop.signal);
      await new Promise((resolve) => setImmediate(resolve));

      const abortedAtMs = performance.now();
      stop.abort();

      expect((await heard).some((t) => t.isFinal)).toBe(false);
      expect(performance.now() - abortedAtMs).toBeLessThan(50);
    });

    test('after an aborted utterance the next one is heard as if it were the first', async () => {
      const session = await (await setUp()).open(english);
      const stop = new AbortController();
      const aborted = collect(
        session,
        queued(frames(second.samples).slice(0, 60), { isEnded: false }),
        stop.signal,
      );
      await new Promise((resolve) => setImmediate(resolve));
      stop.abort();
      await aborted;

      expectUnderstood((await collect(session, queued(frames(first.samples)))).at(-1), first);
    });

    test('callers who speak at once do not mix', async () => {
      const engine = await setUp();
      const sessions = await Promise.all([engine.open(english), engine.open(english)]);

      const [one, other] = await Promise.all([
        collect(sessions[0], queued(frames(first.samples))),
        collect(sessions[1], queued(frames(second.samples))),
      ]);

      expectUnderstood(one.at(-1), first);
      expectUnderstood(other.at(-1), second);
    });

    test('an utterance may begin before the text of the one before it is there', async () => {
      const session = await (await setUp()).open(english);
      const nextAudio = queued(frames(second.samples), { isEnded: false });

      const texts = Promise.all([
        collect(session, queued(frames(first.samples))),
        collect(session, nextAudio),
      ]);
      nextAudio.end();
      const [one, other] = await texts;

      expectUnderstood(one.at(-1), first);
      expectUnderstood(other.at(-1), second);
    });

    test('closing a session twice is harmless, and ends what it hears', async () => {
      const session = await (await setUp()).open(english);
      const heard = collect(session, queued(frames(first.samples).slice(0, 20), { isEnded: false }));
      await new Promise((resolve) => setImmediate(resolve));

      await session.close();
      await session.close();

      expect((await heard).some((t) => t.isFinal)).toBe(false);
    });

    test('it understands English', async () => {
      expect((await setUp()).understands('en')).toBe(true);
    });

    const { fails, roomForOne } = subjects;
    test.runIf(fails)("an engine that can't answer is an upstream failure", async () => {
      const session = await (await setUp(fails ?? undefined)).open(english);

      await expect(collect(session, queued(frames(first.samples)))).rejects.toMatchObject({
        kind: 'upstream_failed',
      });
    });

    test.runIf(roomForOne)('a full engine refuses, readably, until a session is closed', async () => {
      const engine = await setUp(roomForOne ?? undefined);
      const session = await engine.open(english);

      await expect(engine.open(english)).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/\w+ \w+/),
      });
      await session.close();
      await expect(engine.open(english)).resolves.toBeDefined();
    });
  });
}
