/** When a word is heard, in ms from the first sample of the utterance. */
export interface SpokenWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** True when the time is our estimate, not the engine's. */
  readonly isEstimated: boolean;
}

/** Words of an utterance come before or together with the audio they belong to, in order, each once. */
export type SpeechChunk =
  | { readonly type: 'audio'; readonly samples: Int16Array; readonly sampleRateHz: number }
  | { readonly type: 'words'; readonly words: readonly SpokenWord[] };

export interface SpeechRequest {
  /** One sentence or clause, plain text, at most 300 characters. */
  readonly text: string;
  /** The engine's own name of the voice; null is its default for the language. */
  readonly voice: string | null;
  /** ISO 639-1. */
  readonly language: string;
  /** 1 is the voice's own pace; 0.5 to 2. */
  readonly speed: number;
}

/** Port: text to speech. Implementations live in ./engines. */
export interface TtsEngine {
  readonly name: string;
  /** Whether the engine has a voice for this language (ISO 639-1). */
  speaks(language: string): boolean;
  /**
   * Speaks one sentence. Chunks come as soon as they exist, all audio at one rate. The texts of all words joined
   * by spaces equal the request's text with its white space collapsed. Aborting `signal` stops the work within
   * 50 ms and ends the iteration without an error. Throws `Failure('unprocessable')` for a language without a
   * voice and `Failure('upstream_failed')` when the engine can't answer; it never answers with silence.
   */
  synthesize(request: SpeechRequest, signal: AbortSignal): AsyncIterable<SpeechChunk>;
  /**
   * Opens connections and loads voices, so that the first sentence is not slower than the others: those of one
   * language (ISO 639-1), or of the engine's most used one. Never slower than a first sentence would be.
   */
  prewarm(language?: string): Promise<void>;
  /** Stops the engine, its threads and side processes. */
  close(): Promise<void>;
}
