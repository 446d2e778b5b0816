/** The only way to the time of day and to waiting. Tests use `FakeClock` (test/fakes). */
export interface Clock {
  /** Wall clock, ms since 1970. May jump. */
  nowMs(): number;
  /** Monotonic clock, ms with fraction since an arbitrary start. Never jumps back. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once without an error when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
    }),
};

/** ISO 8601 UTC with milliseconds and `Z`, as every time on the wire. */
export function toIso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export class DeadlineExceeded extends Error {
  constructor(what: string, deadlineMs: number) {
    super(`${what} did not answer within ${deadlineMs} ms`);
    this.name = 'DeadlineExceeded';
  }
}

const SETTLED = 'settled';

/** `work`, or `DeadlineExceeded` after `deadlineMs`. The work itself is told by its own signal, if it takes one. */
export async function withDeadline<T>(
  clock: Clock,
  what: string,
  deadlineMs: number,
  work: Promise<T>,
): Promise<T> {
  const settled = new AbortController();
  const late = clock.sleep(deadlineMs, settled.signal).then(() => {
    if (settled.signal.aborted) return new Promise<never>(() => {});
    throw new DeadlineExceeded(what, deadlineMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    // A reason of one's own: without it every call would make an error with its stack.
    settled.abort(SETTLED);
  }
}
