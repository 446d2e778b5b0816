/** About −56 dBFS: below every speech sound, above the noise of a synthesiser. */
const AUDIBLE = 50;

export interface Trimmed {
  readonly samples: Int16Array;
  /** How much was cut from the start. */
  readonly cutMs: number;
}

/** Leaves at most `leadMs` of silence before and `tailMs` after the speech; null when there is only silence. */
export function trimSilence(
  samples: Int16Array,
  sampleRateHz: number,
  { leadMs, tailMs }: { readonly leadMs: number; readonly tailMs: number },
): Trimmed | null {
  const first = samples.findIndex((sample) => Math.abs(sample) > AUDIBLE);
  if (first < 0) return null;
  const last = samples.findLastIndex((sample) => Math.abs(sample) > AUDIBLE);
  const from = Math.max(0, first - Math.round((leadMs * sampleRateHz) / 1000));
  const to = Math.min(samples.length, last + 1 + Math.round((tailMs * sampleRateHz) / 1000));
  return { samples: samples.slice(from, to), cutMs: (from * 1000) / sampleRateHz };
}
