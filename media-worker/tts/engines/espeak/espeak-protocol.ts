/** Engine to host, as a frame's JSON. The host answers each before it takes the next. */
export interface EspeakJob {
  /** Positions in the answer count this string's UTF-16 code units; it has none outside the basic plane. */
  readonly text: string;
  readonly voice: string;
  /** Words per minute, 80 to 450. */
  readonly wordsPerMinute: number;
}

/** A place in the text and when it is spoken. */
export interface TextMoment {
  readonly position: number;
  readonly atMs: number;
}

/** Host to engine. The frame's bytes of `speech` are 16-bit little-endian mono PCM. */
export type EspeakAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'speech'; readonly sampleRateHz: number; readonly moments: readonly TextMoment[] }
  | { readonly type: 'failed'; readonly message: string };
