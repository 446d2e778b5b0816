/** What we use of the package, which ships no types. Addresses and counts are 32-bit numbers of its memory. */
declare module '@echogarden/speex-resampler-wasm/simd' {
  export interface SpeexResampler {
    /** Replaced when the memory grows. */
    readonly HEAP16: Int16Array;
    readonly HEAPU32: Uint32Array;
    _malloc(bytes: number): number;
    /** 0 when it fails; the reason lies at `error`. `quality` is 0 to 10. */
    _speex_resampler_init(
      channels: number,
      inputHz: number,
      outputHz: number,
      quality: number,
      error: number,
    ): number;
    _speex_resampler_destroy(state: number): void;
    /** Drops the zeros that the filter's delay would put before the first sample. */
    _speex_resampler_skip_zeros(state: number): number;
    _speex_resampler_reset_mem(state: number): number;
    _speex_resampler_get_input_latency(state: number): number;
    /** `inputCount` and `outputCount` are addresses: room before the call, samples used and made after it. */
    _speex_resampler_process_int(
      state: number,
      channel: number,
      input: number,
      inputCount: number,
      output: number,
      outputCount: number,
    ): number;
  }

  // biome-ignore lint/style/noDefaultExport: the package has no named one.
  export default function load(): Promise<SpeexResampler>;
}
