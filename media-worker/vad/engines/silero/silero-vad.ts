import type { VadEngine, VadStream } from '../../vad-engine.ts';
import { SileroKernel } from './silero-kernel.ts';

const SAMPLE_RATE_HZ = 16_000;
const FRAME_SAMPLES = 512;

/**
 * Silero VAD v5 on our own WebAssembly kernel: 16 kHz, frames of 32 ms, the last 64 samples of each kept as the
 * context of the next. One instance serves all streams of the process.
 */
export async function createSileroVad(): Promise<VadEngine> {
  const kernel = await SileroKernel.load();
  return {
    name: 'silero-v5',
    sampleRateHz: SAMPLE_RATE_HZ,
    frameSamples: FRAME_SAMPLES,
    open: () => new SileroStream(kernel),
  };
}

class SileroStream implements VadStream {
  readonly #kernel: SileroKernel;
  #slot: number | null;

  constructor(kernel: SileroKernel) {
    this.#kernel = kernel;
    this.#slot = kernel.take();
  }

  probability(samples: Int16Array): number {
    if (samples.length !== FRAME_SAMPLES) {
      throw new RangeError(`a frame has ${FRAME_SAMPLES} samples, not ${samples.length}`);
    }
    return this.#kernel.probability(this.#openSlot(), samples);
  }

  reset(): void {
    this.#kernel.clear(this.#openSlot());
  }

  close(): void {
    if (this.#slot === null) return;
    this.#kernel.give(this.#slot);
    this.#slot = null;
  }

  #openSlot(): number {
    if (this.#slot === null) throw new Error('the voice activity stream is closed');
    return this.#slot;
  }
}
