import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Clock } from '../../shared/time.ts';

const SAMPLE_EVERY_MS = 20;
const WINDOW_MS = 5_000;
/** Of fewer, one late timer would be the 99th percentile. */
const MIN_SAMPLES = 40;
const MICROSECONDS_PER_MS = 1_000;

/** How late timers fire: the delay that everything else on the main thread imposes. */
export class EventLoopDelay {
  readonly #clock: Clock;
  readonly #stopped = new AbortController();
  #current: RecordableHistogram = createHistogram();
  #previous: RecordableHistogram = createHistogram();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(): void {
    void this.#sample();
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Over the last 5 to 10 s; 0 before the first second. */
  p99Ms(): number {
    const worst = Math.max(
      ...[this.#current, this.#previous].map((h) => (h.count >= MIN_SAMPLES ? h.percentile(99) : 0)),
    );
    return worst / MICROSECONDS_PER_MS;
  }

  async #sample(): Promise<void> {
    const { signal } = this.#stopped;
    let windowEndsMs = this.#clock.monotonicMs() + WINDOW_MS;
    while (!signal.aborted) {
      const dueMs = this.#clock.monotonicMs() + SAMPLE_EVERY_MS;
      await this.#clock.sleep(SAMPLE_EVERY_MS, signal);
      const nowMs = this.#clock.monotonicMs();
      if (signal.aborted) return;
      // The histogram takes integers from 1 on.
      this.#current.record(Math.max(1, Math.round((nowMs - dueMs) * MICROSECONDS_PER_MS)));
      if (nowMs < windowEndsMs) continue;
      windowEndsMs = nowMs + WINDOW_MS;
      this.#previous = this.#current;
      this.#current = createHistogram();
    }
  }
}
