import type { Clock } from '../../shared/time.ts';

interface Sleeper {
  readonly dueMs: number;
  readonly order: number;
  readonly wake: () => void;
}

/** A clock that moves only when told. Wakes sleepers in due order and lets their code run in between. */
export class FakeClock implements Clock {
  #nowMs: number;
  #order = 0;
  #sleepers: Sleeper[] = [];

  constructor(startMs = 1_750_000_000_000) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper: Sleeper = { dueMs: this.#nowMs + ms, order: this.#order++, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener(
        'abort',
        () => {
          this.#sleepers = this.#sleepers.filter((s) => s !== sleeper);
          resolve();
        },
        { once: true },
      );
    });
  }

  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await settle();
    for (;;) {
      const next = this.#sleepers
        .filter((s) => s.dueMs <= endMs)
        .sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0];
      if (!next) break;
      this.#sleepers = this.#sleepers.filter((s) => s !== next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.wake();
      await settle();
    }
    this.#nowMs = endMs;
    await settle();
  }
}

/** Lets promise chains that are ready run to their next wait. */
async function settle(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve));
}
