import type { AudioFrame } from '../frame.ts';
import type { Stage } from '../stage.ts';
import { Framing } from './framing.ts';
import { type SpeechBoundary, SpeechGate, type SpeechGateOptions } from './speech-gate.ts';
import type { VadEngine, VadStream } from './vad-engine.ts';

/** What was heard in one window of the engine. */
export interface SpeechDecision {
  /** 0 to 1. */
  readonly probability: number;
  readonly speaking: boolean;
  /** Media time of the window's end. */
  readonly atMs: number;
  /** Set where `speaking` changed. */
  readonly boundary: SpeechBoundary | null;
}

/** One speaker's audio in, at the engine's rate and in frames of any length; a decision for each window out. */
export class VadStage implements Stage<AudioFrame, SpeechDecision> {
  readonly #stream: VadStream;
  readonly #framing: Framing;
  readonly #gate: SpeechGate;
  readonly #windowMs: number;

  constructor(engine: VadEngine, options: Partial<SpeechGateOptions> = {}) {
    this.#gate = new SpeechGate(options);
    this.#framing = new Framing(engine.frameSamples, engine.sampleRateHz);
    this.#windowMs = (engine.frameSamples * 1000) / engine.sampleRateHz;
    this.#stream = engine.open();
  }

  push(frame: AudioFrame): SpeechDecision[] {
    const decisions: SpeechDecision[] = [];
    this.#framing.push(frame, (window, endMs) => decisions.push(this.#decide(window, endMs)));
    return decisions;
  }

  /** Frees the engine's stream. Safe to call twice. */
  close(): void {
    this.#stream.close();
  }

  #decide(window: Int16Array, endMs: number): SpeechDecision {
    const probability = this.#stream.probability(window);
    const [boundary = null] = this.#gate.push({ probability, startMs: endMs - this.#windowMs, endMs });
    return { probability, speaking: this.#gate.isSpeaking, atMs: endMs, boundary };
  }
}
