import type { SpokenWord } from '../tts/tts-engine.ts';

/** Where a part of the audio lies: the piece of text it speaks, and what is known of that piece so far. */
export interface SpokenChunk {
  /** Pieces count from 0 within a request. */
  readonly seq: number;
  readonly text: string;
  /** Where the piece's audio begins in the whole, in ms. */
  readonly offsetMs: number;
  /** Audio of the piece so far, in ms. */
  readonly durationMs: number;
  /** Words so far, in ms from the piece's beginning. */
  readonly words: readonly SpokenWord[];
}

/** Encoded audio, in order, and the piece it belongs to. */
export interface SpokenAudio {
  readonly bytes: Uint8Array;
  readonly chunk: SpokenChunk;
}
