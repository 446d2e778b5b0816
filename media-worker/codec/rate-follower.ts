import type { AudioFrame } from '../frame.ts';
import type { OpenResampler, Resampler } from './resample.ts';

const FRAME_MS = 10;

/**
 * Brings one speaker's audio, whose rate may change between calls, to frames of 10 ms at `outputHz`. Media time
 * counts the audio itself: a frame's `startMs` is where it lies in what was pushed, whatever its rates were.
 */
export class RateFollower {
  readonly #open: OpenResampler;
  readonly #outputHz: number;
  readonly #frameSamples: number;
  #inputHz: number;
  /** Null while the audio comes at `outputHz`. */
  #resampler: Resampler | null = null;
  #frame: Int16Array;
  #filled = 0;
  #framesMade = 0;

  constructor(open: OpenResampler, outputHz = 16_000) {
    this.#open = open;
    this.#outputHz = outputHz;
    this.#inputHz = outputHz;
    this.#frameSamples = (outputHz * FRAME_MS) / 1000;
    this.#frame = new Int16Array(this.#frameSamples);
  }

  push(samples: Int16Array, inputHz: number): AudioFrame[] {
    const frames: AudioFrame[] = [];
    if (inputHz !== this.#inputHz) this.#change(inputHz, frames);
    this.#cut(this.#resampler ? this.#resampler.push(samples) : samples, frames);
    return frames;
  }

  /** Frees the resampler. Safe to call twice. */
  close(): void {
    this.#resampler?.close();
    this.#resampler = null;
    this.#inputHz = this.#outputHz;
  }

  #change(inputHz: number, frames: AudioFrame[]): void {
    if (this.#resampler) this.#cut(this.#resampler.flush(), frames);
    this.close();
    if (inputHz === this.#outputHz) return;
    this.#resampler = this.#open(inputHz, this.#outputHz);
    this.#inputHz = inputHz;
  }

  #cut(samples: Int16Array, frames: AudioFrame[]): void {
    for (let at = 0; at < samples.length; ) {
      const count = Math.min(samples.length - at, this.#frameSamples - this.#filled);
      this.#frame.set(samples.subarray(at, at + count), this.#filled);
      at += count;
      this.#filled += count;
      if (this.#filled < this.#frameSamples) continue;
      const startMs = this.#framesMade++ * FRAME_MS;
      frames.push({ samples: this.#frame, sampleRateHz: this.#outputHz, startMs });
      this.#frame = new Int16Array(this.#frameSamples);
      this.#filled = 0;
    }
  }
}
