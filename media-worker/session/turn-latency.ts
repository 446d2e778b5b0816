/** Moments of one turn, in the order in which they happen; ms on the session's clock. */
export const TURN_MARKS = [
  'speech_ended',
  'asr_final',
  'end_of_turn',
  'llm_first_token',
  'first_sentence',
  'tts_first_audio',
  'first_frame_out',
] as const;
export type TurnMark = (typeof TURN_MARKS)[number];

/** The waterfall of one turn: when each step was reached for the first time. */
export class TurnLatency {
  readonly turn: number;
  readonly #marks = new Map<TurnMark, number>();

  constructor(turn: number) {
    this.turn = turn;
  }

  mark(name: TurnMark, atMs: number): void {
    if (!this.#marks.has(name)) this.#marks.set(name, atMs);
  }

  at(name: TurnMark): number | null {
    return this.#marks.get(name) ?? null;
  }

  /** ms between two marks, null when one is missing. */
  between(from: TurnMark, to: TurnMark): number | null {
    const start = this.#marks.get(from);
    const end = this.#marks.get(to);
    return start === undefined || end === undefined ? null : end - start;
  }

  toJSON(): Record<string, number | null> {
    return {
      turn_id: this.turn,
      ...Object.fromEntries(TURN_MARKS.map((name) => [`${name}_ms`, this.at(name)])),
    };
  }
}
