import type { Clock } from '../time.ts';
import { OutgoingError } from './outgoing-error.ts';

/** One signal for a request: its deadline and its caller's own signal. The abort reason is the `OutgoingError`. */
export class RequestDeadline {
  readonly #controller = new AbortController();
  readonly #timerOff = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #cancel = () => this.#controller.abort(new OutgoingError('aborted'));

  constructor(clock: Clock, deadlineMs: number, outer: AbortSignal | undefined) {
    this.#outer = outer;
    if (outer?.aborted) this.#cancel();
    else outer?.addEventListener('abort', this.#cancel, { once: true });
    void clock.sleep(deadlineMs, this.#timerOff.signal).then(() => {
      if (!this.#timerOff.signal.aborted) this.#controller.abort(new OutgoingError('timed_out'));
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The deadline is met; the caller's signal still counts. */
  meet(): void {
    this.#timerOff.abort();
  }

  /** Nothing aborts the request from here on. */
  settle(): void {
    this.#timerOff.abort();
    this.#outer?.removeEventListener('abort', this.#cancel);
  }

  /** Cuts the request off. */
  abort(): void {
    this.#cancel();
    this.settle();
  }

  /** `work`, or the `OutgoingError` of the deadline or the caller's signal, whichever comes first. */
  async race<T>(work: Promise<T>): Promise<T> {
    const signal = this.#controller.signal;
    let onAbort = () => {};
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(signal.reason);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([work, aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}
