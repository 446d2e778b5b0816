import type { AsrEngine, AsrSession, Transcript } from '../../media-worker/asr/asr-engine.ts';
import { framesUntil } from '../../media-worker/asr/frames-until.ts';
import { durationMs } from '../../media-worker/frame.ts';
import { Failure } from '../../shared/errors.ts';
import type { Clock } from '../../shared/time.ts';

/** What the fake makes of an utterance; `number` counts the engine's utterances from 0. Null: it can't answer. */
export type Hearing = (samples: Int16Array, sampleRateHz: number, number: number) => string | null;

export interface FakeAsrOptions {
  readonly hear: Hearing;
  /** From the end of the audio to the final text; 30 by default. */
  readonly finalDelayMs?: number;
  /** Audio between two partials, each a word longer; without it there are none. */
  readonly partialEveryMs?: number;
  /** Sessions at once; any number by default. */
  readonly maxSessions?: number;
}

/** One text for each utterance, whatever was said; empty when they have run out. */
export function hearsInTurn(...texts: readonly (string | null)[]): Hearing {
  return (_samples, _rate, number) => (number < texts.length ? (texts[number] ?? null) : '');
}

/** The text whose pitch in Hz is the nearest to the sound's own, which must be a tone. */
export function hearsByPitch(textOfHz: Readonly<Record<number, string>>): Hearing {
  return (samples, sampleRateHz) => {
    const heardHz = risingCrossings(samples) / (samples.length / sampleRateHz);
    const [nearest] = Object.entries(textOfHz).toSorted(
      ([a], [b]) => Math.abs(Number(a) - heardHz) - Math.abs(Number(b) - heardHz),
    );
    return heardHz > 20 && nearest ? nearest[1] : '';
  };
}

/** A recogniser that understands what it is told to, on any clock. */
export class FakeAsr implements AsrEngine {
  readonly name = 'fake';
  readonly sampleRateHz = 16_000;
  readonly hasPartials: boolean;
  openSessions = 0;
  readonly #clock: Clock;
  readonly #options: FakeAsrOptions;
  #utterances = 0;

  constructor(clock: Clock, options: FakeAsrOptions) {
    this.#clock = clock;
    this.#options = options;
    this.hasPartials = options.partialEveryMs !== undefined;
  }

  understands(language: string): boolean {
    return language === 'en';
  }

  async open(): Promise<AsrSession> {
    if (this.openSessions >= (this.#options.maxSessions ?? Number.POSITIVE_INFINITY))
      throw new Failure('unavailable', 'The fake recogniser is full');
    this.openSessions++;
    const closed = new AbortController();
    return {
      transcribe: (audio, signal) => this.#transcribe(audio, AbortSignal.any([signal, closed.signal])),
      close: async () => {
        if (!closed.signal.aborted) this.openSessions--;
        closed.abort();
      },
    };
  }

  async close(): Promise<void> {}

  async *#transcribe(
    audio: Parameters<AsrSession['transcribe']>[0],
    signal: AbortSignal,
  ): AsyncIterable<Transcript> {
    const { hear, partialEveryMs = Number.POSITIVE_INFINITY, finalDelayMs = 30 } = this.#options;
    const number = this.#utterances++;
    const heard: number[] = [];
    let startMs: number | null = null;
    let endMs = 0;
    let partials = 0;
    const transcript = (text: string, isFinal: boolean): Transcript => {
      return { text, isFinal, startMs: startMs ?? 0, endMs, confidence: isFinal && text ? 1 : null };
    };
    for await (const frame of framesUntil(audio, signal)) {
      startMs ??= frame.startMs;
      endMs = frame.startMs + durationMs(frame);
      heard.push(...frame.samples);
      if (endMs - startMs < partialEveryMs * (partials + 1)) continue;
      const text = hear(Int16Array.from(heard), frame.sampleRateHz, number) ?? '';
      const words = text.split(' ').slice(0, ++partials);
      if (text !== '') yield transcript(words.join(' '), false);
    }
    await this.#clock.sleep(finalDelayMs, signal);
    if (signal.aborted) return;
    const text = heard.length === 0 ? '' : hear(Int16Array.from(heard), this.sampleRateHz, number);
    if (text === null) throw new Failure('upstream_failed', 'The fake recogniser was told to fail');
    yield transcript(text, true);
  }
}

function risingCrossings(samples: Int16Array): number {
  let count = 0;
  for (let i = 1; i < samples.length; i++) if ((samples[i - 1] ?? 0) < 0 && (samples[i] ?? 0) >= 0) count++;
  return count;
}
