/** A slice of one speaker's audio. */
export interface AudioFrame {
  /** Mono PCM, 16-bit signed. Length is `sampleRateHz * durationMs / 1000`. The receiver may keep it. */
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
  /** Media time of the first sample, in ms since the session's first frame. */
  readonly startMs: number;
}

export function durationMs(frame: AudioFrame): number {
  return (frame.samples.length * 1000) / frame.sampleRateHz;
}
