/** Speech probability of one speaker, frame by frame. Holds the model's state between frames. */
export interface VadStream {
  /** `samples` has exactly `frameSamples` samples at `sampleRateHz`; answers 0 to 1. Synchronous, no allocation. */
  probability(samples: Int16Array): number;
  /** Forgets what was heard. */
  reset(): void;
  close(): void;
}

/** Port: voice activity detection. Implementations live in ./engines. */
export interface VadEngine {
  readonly name: string;
  readonly sampleRateHz: number;
  readonly frameSamples: number;
  open(): VadStream;
}
