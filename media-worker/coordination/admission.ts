import type { Clock } from '../../shared/time.ts';

/** Late audio is heard as stutter; a ticker that is later than this takes no further session. */
const MAX_TICKER_LATENESS_P99_MS = 10;
/** Blocks of the main thread should stay under 20 ms; this is where they have stopped doing so. */
const MAX_EVENT_LOOP_DELAY_P99_MS = 30;

export type Refusal = 'full' | 'draining' | 'duplicate';
export type ReserveAnswer =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly refusal: Refusal };

export interface AdmissionDeps {
  /** Hard cap of slots. Nothing ever exceeds it. */
  readonly capacity: number;
  readonly clock: Clock;
  readonly tickerLatenessP99Ms: () => number;
  readonly eventLoopDelayP99Ms: () => number;
  /** A reservation that nobody joined in time has lost its slot. */
  readonly onExpired?: (sessionId: string) => void;
}

/**
 * The worker's slots. Every operation is synchronous and so atomic: the number of slots taken never exceeds the
 * capacity. A slot is reserved, then held by a live session, and freed when the session's record is stored.
 */
export class Admission {
  readonly #deps: AdmissionDeps;
  /** Session → wall clock until which somebody must join; null once somebody has. */
  readonly #slots = new Map<string, number | null>();
  #isDraining = false;

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  get capacity(): number {
    return this.#deps.capacity;
  }

  /** Reserved and live together. */
  get occupied(): number {
    return this.#slots.size;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  sessionIds(): string[] {
    return [...this.#slots.keys()];
  }

  holds(sessionId: string): boolean {
    return this.#slots.has(sessionId);
  }

  /** Takes a slot until `joinDeadlineMs` (wall clock). Refuses as `full` also while audio is late. */
  reserve(sessionId: string, joinDeadlineMs: number): ReserveAnswer {
    this.expire();
    if (this.#slots.has(sessionId)) return { accepted: false, refusal: 'duplicate' };
    if (this.#isDraining) return { accepted: false, refusal: 'draining' };
    if (this.#slots.size >= this.#deps.capacity || this.#isLate())
      return { accepted: false, refusal: 'full' };
    this.#slots.set(sessionId, joinDeadlineMs);
    return { accepted: true };
  }

  /** The first join: the slot no longer runs out. False when there is no slot or its deadline has passed. */
  join(sessionId: string): boolean {
    this.expire();
    if (!this.#slots.has(sessionId)) return false;
    this.#slots.set(sessionId, null);
    return true;
  }

  /** Frees the slot. False when there was none. */
  release(sessionId: string): boolean {
    return this.#slots.delete(sessionId);
  }

  /** Frees the slots of reservations whose deadline has passed. Called with every heartbeat. */
  expire(): void {
    const nowMs = this.#deps.clock.nowMs();
    for (const [sessionId, deadlineMs] of this.#slots) {
      if (deadlineMs === null || nowMs <= deadlineMs) continue;
      this.#slots.delete(sessionId);
      this.#deps.onExpired?.(sessionId);
    }
  }

  /** Takes nothing new from here on. */
  startDraining(): void {
    this.#isDraining = true;
  }

  /** Nobody hears a worker without calls stutter: what made it late before, its own start for one, is over. */
  #isLate(): boolean {
    if (this.#slots.size === 0) return false;
    return (
      this.#deps.tickerLatenessP99Ms() > MAX_TICKER_LATENESS_P99_MS ||
      this.#deps.eventLoopDelayP99Ms() > MAX_EVENT_LOOP_DELAY_P99_MS
    );
  }
}
