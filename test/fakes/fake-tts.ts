import { refuseUnspeakable } from '../../media-worker/tts/speech-request.ts';
import type { SpeechChunk, SpeechRequest, SpokenWord, TtsEngine } from '../../media-worker/tts/tts-engine.ts';
import type { Failure } from '../../shared/errors.ts';
import type { Clock } from '../../shared/time.ts';
import { tone } from '../support/pitch.ts';

export const FAKE_WORD_MS = 200;
/** The pitch of the fake voice: it tells the agent from a caller who sends another tone. */
export const FAKE_VOICE_HZ = 1_000;

export interface FakeTtsOptions {
  readonly clock: Clock;
  /** Before the first chunk of each sentence. */
  readonly delayMs?: number;
  readonly sampleRateHz?: number;
  readonly languages?: readonly string[];
}

/** Speaks a 1000 Hz tone of 200 ms (at speed 1) for each word. */
export class FakeTts implements TtsEngine {
  readonly name = 'fake';
  /** Every request, in order. */
  readonly requests: SpeechRequest[] = [];
  /** The next sentence fails with this, before its first chunk. */
  failNext: Failure | null = null;
  prewarms = 0;
  isClosed = false;
  readonly #options: FakeTtsOptions;

  constructor(options: FakeTtsOptions) {
    this.#options = options;
  }

  speaks(language: string): boolean {
    return (this.#options.languages ?? ['en']).includes(language);
  }

  async *synthesize(request: SpeechRequest, signal: AbortSignal): AsyncIterable<SpeechChunk> {
    refuseUnspeakable(this, request);
    this.requests.push(request);
    const failure = this.failNext;
    this.failNext = null;
    const { clock, delayMs = 0, sampleRateHz = 16_000 } = this.#options;
    if (delayMs > 0) await clock.sleep(delayMs, signal);
    if (signal.aborted) return;
    if (failure) throw failure;
    const wordMs = FAKE_WORD_MS / request.speed;
    const words = request.text.split(/\s+/).filter((word) => word !== '');
    for (const [i, text] of words.entries()) {
      if (signal.aborted) return;
      const word: SpokenWord = { text, startMs: i * wordMs, endMs: (i + 1) * wordMs, isEstimated: false };
      yield { type: 'words', words: [word] };
      yield { type: 'audio', samples: tone(FAKE_VOICE_HZ, wordMs, sampleRateHz), sampleRateHz };
    }
  }

  async prewarm(): Promise<void> {
    this.prewarms++;
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}
