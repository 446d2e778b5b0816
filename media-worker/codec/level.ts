import { toInt16 } from './pcm.ts';

/** Mean level of speech that is brought to, in dB below full scale, as RMS over what is no pause. */
const TARGET_DBFS = -21;
/** Quieter than this is a pause. */
const PAUSE_DBFS = -45;
/** Loudness is corrected by no more than this. */
const MAX_CORRECTION_DB = 9;
/** So much speech at the right level counts as heard before the first sample: the gain moves slowly and never jumps. */
const PRIOR_MS = 3_000;
/** Above this the peaks are bent instead of cut. */
const KNEE = 0.8;

export interface LevelOptions {
  /** Added after all else. */
  readonly volumeDb: number;
  /** Brings voices of different loudness together. */
  readonly normalizes: boolean;
}

/** Sets the loudness of one stream. The gain changes in a straight line over each piece of audio: no clicks. */
export class Level {
  readonly #options: LevelOptions;
  #gain: number;
  #heardMs = PRIOR_MS;
  #power = 10 ** (TARGET_DBFS / 10);

  constructor(options: LevelOptions) {
    this.#options = options;
    this.#gain = this.#wantedGain();
  }

  /** Changes the samples in place. */
  apply(samples: Int16Array, sampleRateHz: number): void {
    if (samples.length === 0) return;
    if (this.#options.normalizes) this.#listen(samples, sampleRateHz);
    const wanted = this.#wantedGain();
    if (this.#gain === 1 && wanted === 1) return;
    const step = (wanted - this.#gain) / samples.length;
    for (let i = 0; i < samples.length; i++) {
      this.#gain += step;
      samples[i] = bend((samples[i] ?? 0) * this.#gain);
    }
    this.#gain = wanted;
  }

  #listen(samples: Int16Array, sampleRateHz: number): void {
    let sum = 0;
    for (let i = 0; i < samples.length; i++) sum += ((samples[i] ?? 0) / 32_768) ** 2;
    const power = sum / samples.length;
    if (power < 10 ** (PAUSE_DBFS / 10)) return;
    const ms = (samples.length * 1000) / sampleRateHz;
    this.#power = (this.#power * this.#heardMs + power * ms) / (this.#heardMs + ms);
    this.#heardMs += ms;
  }

  #wantedGain(): number {
    const { normalizes, volumeDb } = this.#options;
    const missingDb = normalizes ? TARGET_DBFS - 10 * Math.log10(this.#power) : 0;
    return 10 ** ((Math.max(-MAX_CORRECTION_DB, Math.min(MAX_CORRECTION_DB, missingDb)) + volumeDb) / 20);
  }
}

function bend(value: number): number {
  const level = Math.abs(value) / 32_768;
  if (level <= KNEE) return toInt16(value);
  const bent = KNEE + (1 - KNEE) * Math.tanh((level - KNEE) / (1 - KNEE));
  return toInt16(Math.sign(value) * bent * 32_768);
}
