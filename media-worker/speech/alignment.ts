import type { SpokenChunk } from './spoken-audio.ts';

/** What is said, and when, of the piece that a part of the audio belongs to. Times in seconds. */
export interface ChunkAlignment {
  readonly content: string;
  /** Everything known of the piece so far; a later one of the same `chunk_seq` replaces it. */
  readonly alignment: {
    readonly segments: readonly { readonly text: string; readonly start: number; readonly end: number }[];
    readonly audio_duration: number;
  } | null;
  readonly chunk_seq: number;
  readonly chunk_audio_offset_sec: number;
}

/** The wire form of a piece's words. Times count from the piece's own beginning and lie inside its audio. */
export function alignmentOf({ seq, text, offsetMs, durationMs, words }: SpokenChunk): ChunkAlignment {
  return {
    content: text,
    alignment:
      words.length === 0
        ? null
        : {
            segments: words.map((word) => ({
              text: word.text,
              start: toSeconds(word.startMs),
              end: toSeconds(word.endMs),
            })),
            audio_duration: toSeconds(durationMs),
          },
    chunk_seq: seq,
    chunk_audio_offset_sec: toSeconds(offsetMs),
  };
}

function toSeconds(ms: number): number {
  return Math.round(ms) / 1000;
}
