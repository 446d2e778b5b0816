import type { AudioFrame } from '../frame.ts';

/** Times of consecutive frames that differ by less are taken as continuous. */
const JITTER_MS = 1;

/**
 * Cuts frames of any length into windows of `windowSamples`. The window handed out is one buffer, filled anew for
 * each, so it must be read at once. Where media time jumps, the begun window is dropped.
 */
export class Framing {
  readonly #window: Int16Array;
  readonly #sampleRateHz: number;
  #filled = 0;
  #nextMs: number | null = null;

  constructor(windowSamples: number, sampleRateHz: number) {
    this.#window = new Int16Array(windowSamples);
    this.#sampleRateHz = sampleRateHz;
  }

  /** Calls `take` with each window that is full and the media time of its last sample's end. */
  push(frame: AudioFrame, take: (window: Int16Array, endMs: number) => void): void {
    if (frame.sampleRateHz !== this.#sampleRateHz) {
      throw new RangeError(`frames must come at ${this.#sampleRateHz} Hz, not ${frame.sampleRateHz}`);
    }
    const { samples, startMs } = frame;
    if (this.#nextMs !== null && Math.abs(startMs - this.#nextMs) > JITTER_MS) this.#filled = 0;
    for (let at = 0; at < samples.length; ) {
      const count = Math.min(samples.length - at, this.#window.length - this.#filled);
      this.#copy(samples, at, count);
      at += count;
      this.#filled += count;
      if (this.#filled < this.#window.length) continue;
      this.#filled = 0;
      take(this.#window, startMs + this.#ms(at));
    }
    this.#nextMs = startMs + this.#ms(samples.length);
  }

  // A loop needs no view of the samples, which `set` would.
  #copy(samples: Int16Array, from: number, count: number): void {
    for (let i = 0; i < count; i++) this.#window[this.#filled + i] = samples[from + i] ?? 0;
  }

  #ms(samples: number): number {
    return (samples * 1000) / this.#sampleRateHz;
  }
}
