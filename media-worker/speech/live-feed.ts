import type { LiveClientMessage } from './live-protocol.ts';

/** One step of a realtime request, in the order in which they came. */
export type LiveStep = { readonly type: 'text'; readonly text: string } | { readonly type: 'flush' | 'stop' };

/**
 * What a client has said and nobody has worked on yet. Texts that follow each other become one, as do flushes, so
 * that its size is that of the text alone.
 */
export class LiveFeed {
  #steps: LiveStep[] = [];
  #wake: () => void = () => {};
  #isStopped = false;

  /** No text comes any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  get isEmpty(): boolean {
    return this.#steps.length === 0;
  }

  get waitingCharacters(): number {
    return this.#steps.reduce((sum, step) => sum + (step.type === 'text' ? step.text.length : 0), 0);
  }

  push(message: Exclude<LiveClientMessage, { event: 'start' | 'unknown' }>): void {
    if (this.#isStopped) return;
    if (message.event === 'text') this.#pushText(message.text);
    else if (message.event === 'stop' || this.#steps.at(-1)?.type !== 'flush')
      this.#steps.push({ type: message.event });
    this.#isStopped = message.event === 'stop';
    this.#wake();
  }

  /** The next step, when there is one; null when `signal` aborted first. */
  async next(signal: AbortSignal): Promise<LiveStep | null> {
    for (;;) {
      if (signal.aborted) return null;
      const step = this.#steps.shift();
      if (step) return step;
      await new Promise<void>((resolve) => {
        this.#wake = () => {
          signal.removeEventListener('abort', this.#wake);
          resolve();
        };
        signal.addEventListener('abort', this.#wake, { once: true });
      });
    }
  }

  #pushText(text: string): void {
    if (text === '') return;
    const last = this.#steps.at(-1);
    if (last?.type === 'text') this.#steps[this.#steps.length - 1] = { type: 'text', text: last.text + text };
    else this.#steps.push({ type: 'text', text });
  }
}
