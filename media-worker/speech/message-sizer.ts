import { joinBytes } from '../codec/stream-encoder.ts';
import type { Emit } from './speaker.ts';
import type { SpokenAudio } from './spoken-audio.ts';

/** Some players drop PCM messages of up to 1024 bytes. */
const TAIL_BYTES = 1_026;

/** Keeps uncompressed audio out of tiny messages: the end of each one is sent with the next, or by `release`. */
export class MessageSizer {
  readonly #emit: Emit;
  #held: SpokenAudio | null = null;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** Parts of one piece of text only; `release` comes between two of them. */
  async take({ bytes, chunk }: SpokenAudio): Promise<void> {
    const all = this.#held ? joinBytes([this.#held.bytes, bytes]) : bytes;
    const cut = Math.max(0, all.length - TAIL_BYTES);
    this.#held = { bytes: all.slice(cut), chunk };
    if (cut > 0) await this.#emit({ bytes: all.slice(0, cut), chunk });
  }

  async release(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    if (held) await this.#emit(held);
  }
}
