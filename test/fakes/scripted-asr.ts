import type { AsrEngine, AsrSession, Transcript } from '../../media-worker/asr/asr-engine.ts';
import type { AudioFrame } from '../../media-worker/frame.ts';
import type { Clock } from '../../shared/time.ts';

/** Hears what it is told to hear: one text for each utterance, `finalDelayMs` after its end. Null never answers. */
export class ScriptedAsr implements AsrEngine {
  readonly name = 'scripted';
  readonly sampleRateHz = 16_000;
  readonly hasPartials = false;
  /** Audio of each utterance, in ms. */
  readonly heardMs: number[] = [];
  openSessions = 0;
  readonly #clock: Clock;
  readonly #texts: (string | null)[];
  readonly #finalDelayMs: number;

  constructor(clock: Clock, texts: readonly (string | null)[], finalDelayMs = 30) {
    this.#clock = clock;
    this.#texts = [...texts];
    this.#finalDelayMs = finalDelayMs;
  }

  understands(language: string): boolean {
    return language === 'en';
  }

  async open(): Promise<AsrSession> {
    this.openSessions++;
    let isOpen = true;
    return {
      transcribe: (audio, signal) => this.#transcribe(audio, signal),
      close: async () => {
        if (isOpen) this.openSessions--;
        isOpen = false;
      },
    };
  }

  async close(): Promise<void> {}

  async *#transcribe(audio: AsyncIterable<AudioFrame>, signal: AbortSignal): AsyncIterable<Transcript> {
    const text = this.#texts.length > 0 ? this.#texts.shift() : '';
    let count = 0;
    let startMs = 0;
    for await (const frame of audio) {
      if (count++ === 0) startMs = frame.startMs;
    }
    this.heardMs.push(count * 10);
    if (text === null || text === undefined) return;
    await this.#clock.sleep(this.#finalDelayMs, signal);
    if (!signal.aborted) yield { text, isFinal: true, startMs, endMs: startMs + count * 10, confidence: 1 };
  }
}
