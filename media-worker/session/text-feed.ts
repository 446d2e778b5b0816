/** Sentences on their way from the model to the voice: one writer, one reader. */
export class TextFeed implements AsyncIterable<string> {
  #items: string[] = [];
  #isEnded = false;
  #error: unknown = null;
  #wake: (() => void) | null = null;

  push(items: readonly string[]): void {
    this.#items.push(...items);
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /** The reader gets what was pushed before, then the error. */
  fail(error: unknown): void {
    this.#error = error;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<string> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) yield item;
      else if (this.#isEnded) {
        if (this.#error !== null) throw this.#error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = null;
      }
    }
  }
}
