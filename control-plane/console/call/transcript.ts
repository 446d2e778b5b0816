export type Speaker = 'user' | 'agent';

export interface TranscriptLine {
  readonly id: string;
  readonly speaker: Speaker;
  readonly text: string;
  /** The text will not change any more. */
  readonly isFinal: boolean;
}

/** A piece of a text stream. What a caller said comes whole each time, what an agent says piece by piece. */
export interface TranscriptPiece {
  readonly segmentId: string;
  readonly speaker: Speaker;
  readonly text: string;
  readonly isFinal: boolean;
}

/** The lines of a live conversation, in the order in which they began. */
export class LiveTranscript {
  readonly #lines = new Map<string, TranscriptLine>();

  /** The line as it now reads; null when the piece changes nothing. */
  add({ segmentId, speaker, text, isFinal }: TranscriptPiece): TranscriptLine | null {
    const id = `${speaker}:${segmentId}`;
    const before = this.#lines.get(id);
    // Pieces of different streams may overtake one another; final text stays.
    if (before?.isFinal) return null;
    const next = speaker === 'agent' ? (before?.text ?? '') + text : text;
    if (!before && next.trim() === '') return null;
    const line = { id, speaker, text: next, isFinal };
    this.#lines.set(id, line);
    return line;
  }

  get lines(): TranscriptLine[] {
    return [...this.#lines.values()];
  }
}
