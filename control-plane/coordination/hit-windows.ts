import type { Clock } from '../../shared/time.ts';

interface Window {
  readonly startMs: number;
  readonly endMs: number;
  count: number;
}

/** Counts hits in fixed windows of wall-clock time, forgetting windows that are over. */
export class HitWindows {
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();
  #countsUntilSweep = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many keys are remembered: those of the running windows, and at most as many again that are over. */
  get size(): number {
    return this.#windows.size;
  }

  /** Counts a hit and answers how many the window that holds now has. */
  count(key: string, windowMs: number): number {
    const nowMs = this.#clock.nowMs();
    this.#sweep(nowMs);
    const startMs = nowMs - (nowMs % windowMs);
    const known = this.#windows.get(key);
    const window = known?.startMs === startMs ? known : { startMs, endMs: startMs + windowMs, count: 0 };
    window.count += 1;
    this.#windows.set(key, window);
    return window.count;
  }

  /** A sweep looks at every key, so it waits until as many hits have come as there are keys: constant cost per hit. */
  #sweep(nowMs: number): void {
    if (this.#countsUntilSweep-- > 0) return;
    for (const [key, { endMs }] of this.#windows) {
      if (endMs <= nowMs) this.#windows.delete(key);
    }
    this.#countsUntilSweep = this.#windows.size;
  }
}
