import type { Clock } from '../../shared/time.ts';
import type { TimerName } from '../turn/turn-event.ts';

/** The turn machine's timers on a real clock: one of each name, the newest wins. */
export class SessionTimers {
  readonly #clock: Clock;
  readonly #nowMs: () => number;
  readonly #onTimer: (name: TimerName) => void;
  readonly #running = new Map<TimerName, AbortController>();

  constructor(clock: Clock, nowMs: () => number, onTimer: (name: TimerName) => void) {
    this.#clock = clock;
    this.#nowMs = nowMs;
    this.#onTimer = onTimer;
  }

  set(name: TimerName, atMs: number): void {
    this.clear(name);
    const stop = new AbortController();
    this.#running.set(name, stop);
    void this.#clock.sleep(Math.max(0, atMs - this.#nowMs()), stop.signal).then(() => {
      if (stop.signal.aborted) return;
      this.#running.delete(name);
      this.#onTimer(name);
    });
  }

  clear(name: TimerName): void {
    this.#running.get(name)?.abort();
    this.#running.delete(name);
  }

  clearAll(): void {
    for (const name of [...this.#running.keys()]) this.clear(name);
  }
}
