/**
 * A bounded queue between one maker and one taker. The maker waits while it is full; the taker ends it by leaving
 * its loop, which aborts `gone`.
 */
export class Handoff<T> implements AsyncIterable<T> {
  readonly #capacity: number;
  readonly #gone = new AbortController();
  #items: T[] = [];
  #end: 'open' | 'complete' | { readonly error: unknown } = 'open';
  #wakeTaker: () => void = () => {};
  #wakeMaker: () => void = () => {};

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Aborts when the taker has left. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves when the queue takes more, or at once when nobody takes any longer. */
  async push(item: T): Promise<void> {
    if (this.#gone.signal.aborted) return;
    this.#items.push(item);
    this.#wakeTaker();
    while (this.#items.length >= this.#capacity && !this.#gone.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wakeMaker = resolve;
      });
    }
  }

  end(): void {
    if (this.#end === 'open') this.#end = 'complete';
    this.#wakeTaker();
  }

  /** What is queued is still taken; then the taker's loop throws. */
  fail(error: unknown): void {
    if (this.#end === 'open') this.#end = { error };
    this.#wakeTaker();
  }

  /** The taker leaves. Safe to call twice. */
  leave(): void {
    this.#gone.abort();
    this.#items = [];
    this.#wakeMaker();
    this.#wakeTaker();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      while (!this.#gone.signal.aborted) {
        const item = this.#items.shift();
        if (item !== undefined) {
          this.#wakeMaker();
          yield item;
        } else if (this.#end === 'complete') return;
        else if (this.#end !== 'open') throw this.#end.error;
        else
          await new Promise<void>((resolve) => {
            this.#wakeTaker = resolve;
          });
      }
    } finally {
      this.leave();
    }
  }
}
