import type { SessionEvent } from '../../shared/generated/parley/v1/worker_link.ts';
import type { Logger } from '../../shared/log.ts';
import { type Clock, withDeadline } from '../../shared/time.ts';

/** Events being stored or waiting for it, per worker. A worker sends at most 64 ahead. */
const MAX_QUEUED = 256;
/** A store that hangs counts as failed; storing an event a second time changes nothing. */
const APPLY_DEADLINE_MS = 10_000;

export interface EventIntakeDeps {
  readonly apply: (event: SessionEvent) => Promise<void>;
  readonly acknowledge: (sessionId: string, sequence: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Lane {
  readonly waiting: SessionEvent[];
  lastSequence: number;
  /** From this event on nothing is taken until it comes again. */
  blockedAt: number | null;
  isRunning: boolean;
}

/**
 * Stores what one worker sends: the events of a session one after the other in their order, sessions side by side.
 * An event is acknowledged when it is stored. One that could not be stored, or came when too many were waiting, is
 * not acknowledged and neither is any later one of its session, until the worker has sent it again.
 */
export class EventIntake {
  readonly #deps: EventIntakeDeps;
  readonly #lanes = new Map<string, Lane>();
  #queued = 0;
  #isFailing = false;

  constructor(deps: EventIntakeDeps) {
    this.#deps = deps;
  }

  /** Never throws. */
  push(event: SessionEvent): void {
    const lane = this.#lane(event.sessionId);
    if (lane.blockedAt !== null) {
      if (event.sequence > lane.blockedAt) return;
      lane.blockedAt = null;
    } else if (event.sequence <= lane.lastSequence) {
      // Sent again while its first copy is still being stored.
      return;
    }
    if (this.#queued >= MAX_QUEUED) {
      lane.blockedAt = event.sequence;
      return;
    }
    lane.lastSequence = event.sequence;
    lane.waiting.push(event);
    this.#queued++;
    if (!lane.isRunning) void this.#run(event.sessionId, lane);
  }

  #lane(sessionId: string): Lane {
    const known = this.#lanes.get(sessionId);
    if (known) return known;
    const lane: Lane = { waiting: [], lastSequence: 0, blockedAt: null, isRunning: false };
    this.#lanes.set(sessionId, lane);
    return lane;
  }

  async #run(sessionId: string, lane: Lane): Promise<void> {
    lane.isRunning = true;
    for (let event = lane.waiting.shift(); event; event = lane.waiting.shift()) {
      const isStored = await this.#store(event);
      this.#queued--;
      if (isStored) {
        this.#deps.acknowledge(sessionId, event.sequence);
        continue;
      }
      this.#queued -= lane.waiting.length;
      lane.waiting.length = 0;
      lane.blockedAt = event.sequence;
    }
    lane.isRunning = false;
    if (lane.blockedAt === null) this.#lanes.delete(sessionId);
  }

  async #store(event: SessionEvent): Promise<boolean> {
    const { apply, clock, log } = this.#deps;
    try {
      await withDeadline(clock, 'store', APPLY_DEADLINE_MS, apply(event));
      this.#isFailing = false;
      return true;
    } catch (cause) {
      if (!this.#isFailing)
        log.warn(
          { err: cause, sessionId: event.sessionId, sequence: event.sequence },
          'session event not stored; the worker keeps it and sends it again',
        );
      this.#isFailing = true;
      return false;
    }
  }
}
