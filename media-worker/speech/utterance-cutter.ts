import type { Stage } from '../stage.ts';
import type { VadEngine } from '../vad/vad-engine.ts';
import { VadStage } from '../vad/vad-stage.ts';

/** A stretch of speech of a recording. */
export interface Utterance {
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
  /** Media time in the recording, in ms. */
  readonly startMs: number;
  readonly endMs: number;
}

/** Pauses within a sentence are shorter. */
const HANGOVER_MS = 500;
/** Sound kept from before the voice was noticed: the first consonant lies there. */
const PRE_ROLL_MS = 300;
const HISTORY_MS = 1_000;
/** From here on the next short pause will do; recognisers grow slow and forgetful with length. */
const LONG_MS = 15_000;
/** Speech without any pause is cut here. */
const LONGEST_MS = 28_000;
const PAUSE_PROBABILITY = 0.35;

interface Window {
  readonly samples: Int16Array;
  readonly startMs: number;
}

/** Finds the speech of a recording and cuts it where it pauses. */
export class UtteranceCutter implements Stage<Int16Array, Utterance> {
  readonly #vad: VadStage;
  readonly #engine: VadEngine;
  readonly #windowMs: number;
  #rest = new Int16Array(0);
  #windows = 0;
  /** What was heard last, in case it turns out to be the beginning of speech. */
  #history: Window[] = [];
  #open: Window[] | null = null;

  constructor(engine: VadEngine) {
    this.#engine = engine;
    this.#vad = new VadStage(engine, { hangoverMs: HANGOVER_MS, preRollMs: PRE_ROLL_MS });
    this.#windowMs = (engine.frameSamples * 1000) / engine.sampleRateHz;
  }

  /** Samples at the engine's rate, in pieces of any length. */
  push(samples: Int16Array): Utterance[] {
    const all = new Int16Array(this.#rest.length + samples.length);
    all.set(this.#rest);
    all.set(samples, this.#rest.length);
    const { frameSamples } = this.#engine;
    const utterances: Utterance[] = [];
    let at = 0;
    for (; at + frameSamples <= all.length; at += frameSamples) {
      const done = this.#take(all.slice(at, at + frameSamples));
      if (done) utterances.push(done);
    }
    this.#rest = all.slice(at);
    return utterances;
  }

  /** The recording has ended: what was being said. */
  flush(): Utterance[] {
    const last = this.#close();
    return last ? [last] : [];
  }

  /** Frees the engine's stream. Safe to call twice. */
  close(): void {
    this.#vad.close();
  }

  #take(samples: Int16Array): Utterance | null {
    const window = { samples, startMs: this.#windows++ * this.#windowMs };
    this.#history.push(window);
    while ((this.#history[0]?.startMs ?? window.startMs) < window.startMs - HISTORY_MS) this.#history.shift();
    this.#open?.push(window);
    const frame = { samples, sampleRateHz: this.#engine.sampleRateHz, startMs: window.startMs };
    const [decision] = this.#vad.push(frame);
    if (decision?.boundary?.type === 'started') {
      const fromMs = decision.boundary.audioFromMs;
      this.#open ??= this.#history.filter((held) => held.startMs >= fromMs);
    }
    if (decision?.boundary?.type === 'ended') return this.#close();
    const lengthMs = (this.#open?.length ?? 0) * this.#windowMs;
    const isPause = (decision?.probability ?? 1) < PAUSE_PROBABILITY;
    if (lengthMs < (isPause ? LONG_MS : LONGEST_MS)) return null;
    const utterance = this.#close();
    // The voice goes on.
    this.#open = [];
    return utterance;
  }

  #close(): Utterance | null {
    const windows = this.#open ?? [];
    this.#open = null;
    const [first] = windows;
    if (!first) return null;
    const { frameSamples, sampleRateHz } = this.#engine;
    const samples = new Int16Array(windows.length * frameSamples);
    for (const [i, window] of windows.entries()) samples.set(window.samples, i * frameSamples);
    return {
      samples,
      sampleRateHz,
      startMs: first.startMs,
      endMs: first.startMs + windows.length * this.#windowMs,
    };
  }
}
