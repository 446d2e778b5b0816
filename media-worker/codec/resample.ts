import loadSpeex, { type SpeexResampler } from '@echogarden/speex-resampler-wasm/simd';

/** Speex's scale of 0 to 10. At 5 aliases lie below −100 dB and the filter looks 1.7 to 5 ms ahead. */
const QUALITY = 5;
const INPUT_BLOCK_SAMPLES = 4_800;
const OUTPUT_ROOM_SAMPLES = 32_768;
const INT16_BYTES = 2;

/** Opens resamplers; all of them live in one WebAssembly instance. */
export type OpenResampler = (inputHz: number, outputHz: number) => Resampler;

export async function loadResampler(): Promise<OpenResampler> {
  const scratch = new Scratch(await loadSpeex());
  return (inputHz, outputHz) => new Resampler(scratch, inputHz, outputHz);
}

/**
 * Changes the rate of one stream of mono PCM that comes in pieces of any length. Sample k of what comes out is the
 * sound at k / outputHz seconds of what went in. `latencyMs` of it waits for the input that follows, or `flush`.
 */
export class Resampler {
  readonly #scratch: Scratch;
  readonly #inputHz: number;
  readonly #outputHz: number;
  #state: number;
  #inputSamples = 0;
  #outputSamples = 0;

  constructor(scratch: Scratch, inputHz: number, outputHz: number) {
    this.#scratch = scratch;
    this.#inputHz = inputHz;
    this.#outputHz = outputHz;
    this.#state = scratch.openState(inputHz, outputHz);
  }

  get latencyMs(): number {
    return (this.#scratch.speex._speex_resampler_get_input_latency(this.#openState()) * 1000) / this.#inputHz;
  }

  /** The result has a buffer of its own. */
  push(samples: Int16Array): Int16Array {
    const made = this.#process(samples);
    this.#inputSamples += samples.length;
    this.#outputSamples += made.length;
    return made;
  }

  /**
   * The rest of what was pushed: in sum round(pushed · outputHz / inputHz) samples have then come out. The next
   * `push` begins a new stream.
   */
  flush(): Int16Array {
    const { speex } = this.#scratch;
    const state = this.#openState();
    const dueSamples =
      Math.round((this.#inputSamples * this.#outputHz) / this.#inputHz) - this.#outputSamples;
    const behind =
      speex._speex_resampler_get_input_latency(state) + Math.ceil(this.#inputHz / this.#outputHz);
    const rest = this.#process(new Int16Array(behind + 1));
    this.#scratch.begin(state);
    this.#inputSamples = 0;
    this.#outputSamples = 0;
    return rest.slice(0, Math.max(0, dueSamples));
  }

  /** Frees the filter. Safe to call twice. */
  close(): void {
    if (this.#state !== 0) this.#scratch.speex._speex_resampler_destroy(this.#state);
    this.#state = 0;
  }

  #process(samples: Int16Array): Int16Array {
    const state = this.#openState();
    const fits = Math.floor(((OUTPUT_ROOM_SAMPLES - 2) * this.#inputHz) / this.#outputHz);
    const block = Math.min(INPUT_BLOCK_SAMPLES, fits);
    if (samples.length <= block) return this.#scratch.process(state, samples);
    // Two more than the ratio says: the filter's position moves in fractions of a sample.
    const made = new Int16Array(Math.ceil((samples.length * this.#outputHz) / this.#inputHz) + 2);
    let count = 0;
    for (let at = 0; at < samples.length; at += block) {
      const piece = this.#scratch.process(state, samples.subarray(at, at + block));
      made.set(piece, count);
      count += piece.length;
    }
    return made.slice(0, count);
  }

  #openState(): number {
    if (this.#state === 0) throw new Error('the resampler is closed');
    return this.#state;
  }
}

/** The instance, and the buffers in its memory through which all resamplers take turns. */
class Scratch {
  readonly speex: SpeexResampler;
  readonly #input: number;
  readonly #output: number;
  readonly #counts: number;

  constructor(speex: SpeexResampler) {
    this.speex = speex;
    this.#input = speex._malloc(INPUT_BLOCK_SAMPLES * INT16_BYTES);
    this.#output = speex._malloc(OUTPUT_ROOM_SAMPLES * INT16_BYTES);
    this.#counts = speex._malloc(8);
  }

  openState(inputHz: number, outputHz: number): number {
    const state = this.speex._speex_resampler_init(1, inputHz, outputHz, QUALITY, this.#counts);
    if (state === 0) throw new Error(`no resampler from ${inputHz} to ${outputHz} Hz`);
    this.begin(state);
    return state;
  }

  begin(state: number): void {
    this.speex._speex_resampler_reset_mem(state);
    this.speex._speex_resampler_skip_zeros(state);
  }

  /** At most `INPUT_BLOCK_SAMPLES` in; what comes out has a buffer of its own. */
  process(state: number, samples: Int16Array): Int16Array {
    const { speex } = this;
    speex.HEAP16.set(samples, this.#input / INT16_BYTES);
    const counts = this.#counts / 4;
    speex.HEAPU32[counts] = samples.length;
    speex.HEAPU32[counts + 1] = OUTPUT_ROOM_SAMPLES;
    const error = speex._speex_resampler_process_int(
      state,
      0,
      this.#input,
      this.#counts,
      this.#output,
      this.#counts + 4,
    );
    const used = speex.HEAPU32[counts];
    const made = speex.HEAPU32[counts + 1] ?? 0;
    if (error !== 0 || used !== samples.length) throw new Error(`resampling stopped with code ${error}`);
    const from = this.#output / INT16_BYTES;
    return speex.HEAP16.slice(from, from + made);
  }
}
