import type { AudioFrame } from '../frame.ts';

/** Partial text may still change; final text never does. */
export interface Transcript {
  readonly text: string;
  readonly isFinal: boolean;
  /** Media time covered, in ms since the session's first frame. */
  readonly startMs: number;
  readonly endMs: number;
  /** 0 to 1, or null when the engine doesn't tell. */
  readonly confidence: number | null;
}

/** A recogniser for one speaker of one session. */
export interface AsrSession {
  /**
   * Transcribes one utterance until `audio` ends or `signal` aborts. Yields any number of partial transcripts
   * and, when the audio has ended, exactly one final (empty text when nothing was understood). Aborting stops
   * the work within 50 ms and ends the iteration without an error. Throws `Failure('upstream_failed')` when the
   * engine can't answer. Utterances of one session may overlap by the tail of the first.
   */
  transcribe(audio: AsyncIterable<AudioFrame>, signal: AbortSignal): AsyncIterable<Transcript>;
  /** Frees what the session holds. Safe to call twice. */
  close(): Promise<void>;
}

export interface AsrSessionOptions {
  /** ISO 639-1 code of the conversation. */
  readonly language: string;
  /** Words to expect: names from the prompt and knowledge. A hint. */
  readonly keyterms: readonly string[];
}

/** Port: speech to text. Implementations live in ./engines. */
export interface AsrEngine {
  readonly name: string;
  /** The rate the engine wants; the pipeline resamples to it. */
  readonly sampleRateHz: number;
  /** Whether partial transcripts come while the speaker is speaking. */
  readonly hasPartials: boolean;
  /** Whether the engine understands this language (ISO 639-1). */
  understands(language: string): boolean;
  /** Opens a recogniser. Throws `Failure('unavailable')` with a readable message when none is free. */
  open(options: AsrSessionOptions): Promise<AsrSession>;
  /** Stops the engine and its side processes. */
  close(): Promise<void>;
}
