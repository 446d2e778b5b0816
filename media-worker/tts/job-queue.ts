import { Failure } from '../../shared/errors.ts';

interface Waiting<Job, Result> {
  readonly job: Job;
  readonly settle: (result: Result | Failure | null) => void;
}

/**
 * One job at a time, first come, first served, for an engine that can't be interrupted. A job cancelled while it
 * waits costs nothing; one that is being done is finished and its result thrown away. With `maxWaiting` jobs
 * waiting the next is refused with `Failure('unavailable')`.
 */
export class JobQueue<Job, Result> {
  readonly #perform: (job: Job) => Promise<Result>;
  readonly #maxWaiting: number;
  #waiting: Waiting<Job, Result>[] = [];
  #running: Waiting<Job, Result> | null = null;
  #isClosed = false;

  /** `perform` throws a `Failure`, whatever goes wrong. */
  constructor(maxWaiting: number, perform: (job: Job) => Promise<Result>) {
    this.#maxWaiting = maxWaiting;
    this.#perform = perform;
  }

  /** Null when `signal` aborted first. */
  run(job: Job, signal: AbortSignal): Promise<Result | null> {
    if (signal.aborted) return Promise.resolve(null);
    if (this.#isClosed) return Promise.reject(new Failure('unavailable', 'The voice is closed'));
    if (this.#waiting.length >= this.#maxWaiting)
      return Promise.reject(new Failure('unavailable', 'The voice has too much to say'));
    return new Promise((resolve, reject) => {
      const leave = () => waiting.settle(null);
      const waiting: Waiting<Job, Result> = {
        job,
        settle: (result) => {
          signal.removeEventListener('abort', leave);
          this.#waiting = this.#waiting.filter((other) => other !== waiting);
          if (result instanceof Failure) reject(result);
          else resolve(result);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
      if (!this.#running) void this.#drain();
    });
  }

  /** Fails what waits and what runs, and refuses what comes. */
  close(): void {
    this.#isClosed = true;
    const failure = new Failure('unavailable', 'The voice is closed');
    for (const waiting of [...this.#waiting]) waiting.settle(failure);
    this.#running?.settle(failure);
  }

  async #drain(): Promise<void> {
    for (;;) {
      const next = this.#waiting.shift() ?? null;
      this.#running = next;
      if (!next) return;
      next.settle(
        await this.#perform(next.job).catch((cause: unknown) =>
          cause instanceof Failure ? cause : new Failure('upstream_failed', 'The voice failed', { cause }),
        ),
      );
    }
  }
}
