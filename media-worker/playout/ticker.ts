import { LatenessHistogram } from './lateness-histogram.ts';

/** Asked every 20 ms to hand over two 10 ms frames. Must not throw and must not wait. */
export interface Paced {
  tick(): void;
}

const STEP_MS = 5;
const PHASES = 4;
/** After a stall this much is caught up; what lies further back is dropped time. */
const CATCH_UP_STEPS = 200 / STEP_MS;
const DECAY_EVERY_STEPS = 10_000 / STEP_MS;

export interface TickerTimers {
  nowMs(): number;
  /** Calls back after about `ms`; answers how to stop it. */
  after(ms: number, callback: () => void): () => void;
}

const systemTimers: TickerTimers = {
  nowMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * The one pacing clock of a worker process: a 5 ms deadline ticker with the sessions spread over four phases, so
 * that each is asked every 20 ms. Deadlines are absolute, hence no drift; lateness is measured at each step.
 */
export class Ticker {
  readonly #timers: TickerTimers;
  readonly #phases: Set<Paced>[] = Array.from({ length: PHASES }, () => new Set<Paced>());
  readonly lateness = new LatenessHistogram();
  #stop: (() => void) | null = null;
  #startMs = 0;
  #step = 0;
  #droppedSteps = 0;
  #generation = 0;

  constructor(timers: TickerTimers = systemTimers) {
    this.#timers = timers;
  }

  /** Time lost to stalls longer than the catch-up bound, in ms since the start. */
  get droppedMs(): number {
    return this.#droppedSteps * STEP_MS;
  }

  add(paced: Paced): void {
    const emptiest = this.#phases.reduce((best, phase) => (phase.size < best.size ? phase : best));
    emptiest.add(paced);
    if (!this.#stop) this.#start();
  }

  /** Forgets the session. The clock rests while nobody needs it, and a clock at rest is not late. */
  remove(paced: Paced): void {
    for (const phase of this.#phases) phase.delete(paced);
    if (this.#phases.some((phase) => phase.size > 0)) return;
    this.stop();
    // Admission reads the lateness: without ticks it would never fall again, and no session would ever be taken.
    this.lateness.clear();
  }

  stop(): void {
    this.#generation++;
    this.#stop?.();
    this.#stop = null;
  }

  #start(): void {
    this.#startMs = this.#timers.nowMs();
    this.#step = 0;
    this.#schedule();
  }

  #schedule(): void {
    const dueMs = this.#startMs + (this.#step + 1) * STEP_MS;
    this.#stop = this.#timers.after(Math.max(0, dueMs - this.#timers.nowMs()), () => this.#run());
  }

  #run(): void {
    const generation = this.#generation;
    const elapsedMs = this.#timers.nowMs() - this.#startMs;
    let due = Math.floor(elapsedMs / STEP_MS) - this.#step;
    if (due > CATCH_UP_STEPS) {
      // Whole rounds are dropped, so that every session loses the same time.
      const dropped = Math.ceil((due - CATCH_UP_STEPS) / PHASES) * PHASES;
      this.#step += dropped;
      this.#droppedSteps += dropped;
      due -= dropped;
    }
    for (; due > 0; due--) {
      this.#step++;
      this.lateness.add(elapsedMs - this.#step * STEP_MS);
      if (this.#step % DECAY_EVERY_STEPS === 0) this.lateness.decay();
      for (const paced of this.#phases[this.#step % PHASES] ?? []) paced.tick();
    }
    // A session that left in its own tick may have stopped the clock, and another may have started it anew.
    if (generation === this.#generation) this.#schedule();
  }
}
