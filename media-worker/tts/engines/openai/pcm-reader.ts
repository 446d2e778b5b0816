const LEAD_MS = 30;
/** About −56 dBFS. */
const AUDIBLE = 50;
const RIFF = 0x46464952;
const MIN_WAV_HEADER_BYTES = 44;

/**
 * Reads 16-bit little-endian mono PCM from a byte stream whose pieces end anywhere. Silence before the speech is
 * dropped but for 30 ms. A RIFF header, which some services send although PCM was asked for, gives the rate.
 */
export class PcmReader {
  #sampleRateHz: number;
  #pending: Buffer = Buffer.alloc(0);
  #hasHeaderPassed = false;
  #hasSpeech = false;

  constructor(sampleRateHz: number) {
    this.#sampleRateHz = sampleRateHz;
  }

  get sampleRateHz(): number {
    return this.#sampleRateHz;
  }

  get hasSpeech(): boolean {
    return this.#hasSpeech;
  }

  /** Samples in a buffer of their own; may be empty. */
  push(bytes: Uint8Array): Int16Array {
    this.#pending = Buffer.concat([this.#pending, bytes]);
    if (!this.#hasHeaderPassed && !this.#passHeader()) return new Int16Array(0);
    const whole = this.#pending.length - (this.#pending.length % 2);
    const samples = new Int16Array(new Uint8Array(this.#pending.subarray(0, whole)).buffer);
    this.#pending = this.#pending.subarray(whole);
    if (this.#hasSpeech) return samples;
    const first = samples.findIndex((sample) => Math.abs(sample) > AUDIBLE);
    if (first < 0) return new Int16Array(0);
    this.#hasSpeech = true;
    return samples.slice(Math.max(0, first - Math.round((LEAD_MS * this.#sampleRateHz) / 1000)));
  }

  /** False while it is not known yet whether there is a header. */
  #passHeader(): boolean {
    if (this.#pending.length < 4) return false;
    if (this.#pending.readUInt32LE(0) === RIFF) {
      const dataAt = this.#pending.indexOf('data');
      if (this.#pending.length < MIN_WAV_HEADER_BYTES || dataAt < 0) return false;
      this.#sampleRateHz = this.#pending.readUInt32LE(24);
      this.#pending = this.#pending.subarray(dataAt + 8);
    }
    this.#hasHeaderPassed = true;
    return true;
  }
}
