import type { HeardMessage } from './host-protocol.ts';

/**
 * What came back for one utterance and waits for its reader. Holds one partial, the newest: a slow reader misses
 * partials, never the final. The first end (final or error) stays.
 */
export class UtteranceInbox {
  #partial: HeardMessage | null = null;
  #final: HeardMessage | null = null;
  #error: unknown = null;
  #wake: (() => void) | null = null;
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake?.(), { once: true });
  }

  put(message: HeardMessage): void {
    if (message.type === 'partial') this.#partial = message;
    else this.#final ??= message;
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#error ??= error;
    this.#wake?.();
  }

  get hasEnded(): boolean {
    return this.#final !== null || this.#error !== null;
  }

  /** The next message; null when the signal aborts. Throws what `fail` was given. */
  async next(): Promise<HeardMessage | null> {
    for (;;) {
      if (this.#signal.aborted) return null;
      const message = this.#final ?? this.#partial;
      if (message) {
        this.#partial = null;
        return message;
      }
      if (this.#error !== null) throw this.#error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }
}
