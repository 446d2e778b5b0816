import type { Stage } from '../stage.ts';

/** How probably a stretch of audio is speech. Stretches come in order of media time. */
export interface SpeechLikelihood {
  /** 0 to 1. */
  readonly probability: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** Where speech begins or ends, in media time. */
export type SpeechBoundary =
  | {
      readonly type: 'started';
      /** When this was decided; the voice began before, at `onsetMs`. */
      readonly atMs: number;
      readonly onsetMs: number;
      /** From here on the audio belongs to this speech: the pre-roll before the onset, none of it told before. */
      readonly audioFromMs: number;
    }
  | {
      readonly type: 'ended';
      /** When this was decided; the voice stopped before, at `lastSpeechMs`. */
      readonly atMs: number;
      readonly lastSpeechMs: number;
    };

export interface SpeechGateOptions {
  /** Speech begins above this probability. */
  readonly startProbability: number;
  /** Speech goes on down to this probability; below it is silence. Lower than `startProbability`. */
  readonly endProbability: number;
  /** A voice shorter than this is a click and no speech. Longer means later decisions. */
  readonly minSpeechMs: number;
  /** Silence that ends speech. Shorter cuts sentences at their pauses, longer makes every answer wait. */
  readonly hangoverMs: number;
  /** Audio kept from before the onset: soft consonants lie there. */
  readonly preRollMs: number;
}

export const DEFAULT_SPEECH_GATE: SpeechGateOptions = {
  startProbability: 0.5,
  endProbability: 0.35,
  minSpeechMs: 64,
  hangoverMs: 300,
  preRollMs: 300,
};

/** Turns likelihoods into where speech begins and ends. Two thresholds keep it from flickering. */
export class SpeechGate implements Stage<SpeechLikelihood, SpeechBoundary> {
  readonly #options: SpeechGateOptions;
  /** When the voice that may become speech began; null while there is none. */
  #onsetMs: number | null = null;
  #isSpeaking = false;
  #lastSpeechMs = 0;
  /** Audio up to here was part of earlier speech. */
  #toldUntilMs = 0;

  constructor(options: Partial<SpeechGateOptions> = {}) {
    this.#options = { ...DEFAULT_SPEECH_GATE, ...options };
    const { startProbability, endProbability } = this.#options;
    if (endProbability > startProbability) {
      throw new RangeError('endProbability must not lie above startProbability');
    }
  }

  get isSpeaking(): boolean {
    return this.#isSpeaking;
  }

  push(heard: SpeechLikelihood): SpeechBoundary[] {
    return this.#isSpeaking ? this.#whileSpeaking(heard) : this.#whileSilent(heard);
  }

  #whileSilent({ probability, startMs, endMs }: SpeechLikelihood): SpeechBoundary[] {
    const { startProbability, endProbability, minSpeechMs, preRollMs } = this.#options;
    if (probability < endProbability) this.#onsetMs = null;
    if (probability <= startProbability) return [];
    this.#onsetMs ??= startMs;
    if (endMs - this.#onsetMs < minSpeechMs) return [];
    const onsetMs = this.#onsetMs;
    this.#onsetMs = null;
    this.#isSpeaking = true;
    this.#lastSpeechMs = endMs;
    const audioFromMs = Math.max(this.#toldUntilMs, onsetMs - preRollMs);
    return [{ type: 'started', atMs: endMs, onsetMs, audioFromMs }];
  }

  #whileSpeaking({ probability, startMs, endMs }: SpeechLikelihood): SpeechBoundary[] {
    const { endProbability, hangoverMs } = this.#options;
    // Audio that never came is silence too: a voice after a long gap is new speech.
    const isStillSpeech = probability >= endProbability && startMs - this.#lastSpeechMs < hangoverMs;
    if (isStillSpeech) this.#lastSpeechMs = endMs;
    if (endMs - this.#lastSpeechMs < hangoverMs) return [];
    this.#isSpeaking = false;
    this.#toldUntilMs = endMs;
    return [{ type: 'ended', atMs: endMs, lastSpeechMs: this.#lastSpeechMs }];
  }
}
