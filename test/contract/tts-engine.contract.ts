import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { trimSilence } from '../../media-worker/tts/trim-silence.ts';
import type { SpeechChunk, SpeechRequest, SpokenWord, TtsEngine } from '../../media-worker/tts/tts-engine.ts';

export interface TtsSubject {
  readonly engine: TtsEngine;
  readonly language: string;
  /** A sentence in that language, with a number and runs of white space. */
  readonly text: string;
  /** Frees what the subject holds, the engine excepted. */
  readonly dispose?: () => Promise<void>;
}

interface Spoken {
  readonly chunks: readonly SpeechChunk[];
  readonly words: readonly SpokenWord[];
  readonly rates: ReadonlySet<number>;
  readonly totalMs: number;
  readonly samples: Int16Array;
}

const ABORT_MS = 50;

export async function speak(
  engine: TtsEngine,
  request: SpeechRequest,
  signal?: AbortSignal,
): Promise<Spoken> {
  const chunks: SpeechChunk[] = [];
  for await (const chunk of engine.synthesize(request, signal ?? new AbortController().signal))
    chunks.push(chunk);
  const audio = chunks.filter((chunk) => chunk.type === 'audio');
  const samples = Int16Array.from(audio.flatMap((chunk) => [...chunk.samples]));
  const rates = new Set(audio.map((chunk) => chunk.sampleRateHz));
  return {
    chunks,
    words: chunks.flatMap((chunk) => (chunk.type === 'words' ? chunk.words : [])),
    rates,
    totalMs: (samples.length * 1000) / ([...rates][0] ?? 1),
    samples,
  };
}

/** The promises of the `TtsEngine` port. */
export function ttsEngineContract(name: string, create: () => Promise<TtsSubject>): void {
  describe(`speech by ${name}`, () => {
    let subject: TtsSubject;
    const request = (text = subject.text, speed = 1): SpeechRequest => ({
      text,
      voice: null,
      language: subject.language,
      speed,
    });

    beforeAll(async () => {
      subject = await create();
      await subject.engine.prewarm();
    });
    afterAll(async () => {
      await subject.engine.close();
      await subject.dispose?.();
    });

    test('speaks the language it says it speaks, audibly and at one rate', async () => {
      expect(subject.engine.speaks(subject.language)).toBe(true);

      const { rates, totalMs, samples } = await speak(subject.engine, request());

      expect(rates.size).toBe(1);
      expect(totalMs).toBeGreaterThan(500);
      expect(trimSilence(samples, 16_000, { leadMs: 0, tailMs: 0 })).not.toBeNull();
    });

    test('the words joined by spaces are the text with its white space collapsed', async () => {
      const { words } = await speak(subject.engine, request());

      expect(words.map((word) => word.text).join(' ')).toBe(subject.text.trim().replace(/\s+/g, ' '));
    });

    test('words follow each other in time and end with the audio', async () => {
      const { words, totalMs } = await speak(subject.engine, request());

      let lastMs = 0;
      for (const word of words) {
        expect(word.startMs).toBeGreaterThanOrEqual(lastMs - 1);
        expect(word.endMs).toBeGreaterThanOrEqual(word.startMs);
        lastMs = word.startMs;
      }
      const isEstimated = words.some((word) => word.isEstimated);
      if (!isEstimated) expect(words.at(-1)?.endMs ?? 0).toBeLessThanOrEqual(totalMs + 1);
    });

    test('words come before or together with their audio', async () => {
      const { chunks } = await speak(subject.engine, request());

      let heardMs = 0;
      for (const chunk of chunks) {
        if (chunk.type === 'audio') heardMs += (chunk.samples.length * 1000) / chunk.sampleRateHz;
        else for (const word of chunk.words) expect(word.endMs).toBeGreaterThanOrEqual(heardMs - 1);
      }
    });

    test('chunks are not written to again', async () => {
      const { chunks, samples } = await speak(subject.engine, request());
      const kept = Int16Array.from(
        chunks.flatMap((chunk) => (chunk.type === 'audio' ? [...chunk.samples] : [])),
      );
      await speak(subject.engine, request());

      expect(Buffer.from(kept.buffer).equals(Buffer.from(samples.buffer))).toBe(true);
    });

    test('twice the speed is about half as long', async () => {
      const normal = await speak(subject.engine, request());
      const fast = await speak(subject.engine, request(subject.text, 2));

      expect(fast.totalMs / normal.totalMs).toBeGreaterThan(0.35);
      expect(fast.totalMs / normal.totalMs).toBeLessThan(0.7);
    });

    test('a signal that has aborted gets nothing', async () => {
      const { chunks } = await speak(subject.engine, request(), AbortSignal.abort());

      expect(chunks).toEqual([]);
    });

    test('aborting before the first chunk ends the iteration within 50 ms, without an error', async () => {
      const controller = new AbortController();
      const speaking = speak(subject.engine, request(), controller.signal);
      await new Promise((resolve) => setImmediate(resolve));
      const abortedAtMs = performance.now();
      controller.abort();

      await speaking;

      expect(performance.now() - abortedAtMs).toBeLessThan(ABORT_MS);
    });

    test('aborting between two chunks ends the iteration', async () => {
      const controller = new AbortController();
      let audioChunks = 0;
      for await (const chunk of subject.engine.synthesize(request(), controller.signal)) {
        if (chunk.type === 'audio') audioChunks++;
        controller.abort();
      }

      expect(audioChunks).toBeLessThanOrEqual(1);
    });

    test('speaks on after an abort', async () => {
      const controller = new AbortController();
      const cancelled = speak(subject.engine, request(), controller.signal);
      controller.abort();
      await cancelled;

      expect((await speak(subject.engine, request())).totalMs).toBeGreaterThan(500);
    });

    test('sentences asked for at once are each spoken whole', async () => {
      const alone = await speak(subject.engine, request());
      const together = await Promise.all([1, 2, 3].map(() => speak(subject.engine, request())));

      for (const { words, totalMs } of together) {
        expect(words).toHaveLength(alone.words.length);
        expect(Math.abs(totalMs - alone.totalMs)).toBeLessThan(20);
      }
    });

    test.each([
      ['a language without a voice', (r: SpeechRequest) => ({ ...r, language: 'xx' })],
      ['a text of more than 300 characters', (r: SpeechRequest) => ({ ...r, text: 'word '.repeat(61) })],
      ['a text with nothing to speak', (r: SpeechRequest) => ({ ...r, text: ' … — !' })],
      ['an empty text', (r: SpeechRequest) => ({ ...r, text: '' })],
      ['a speed out of range', (r: SpeechRequest) => ({ ...r, speed: 3 })],
    ])('%s is refused, never answered with silence', async (_what, change) => {
      await expect(speak(subject.engine, change(request()))).rejects.toMatchObject({ kind: 'unprocessable' });
    });
  });
}
