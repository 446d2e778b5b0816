import type { SessionEvent } from '../../shared/generated/parley/v1/worker_link.ts';

/** Unacknowledged events on the wire at once. Bounds what a reconnect sends twice. */
const MAX_IN_FLIGHT = 64;

export interface WindowEntry<Source> {
  readonly event: SessionEvent;
  readonly bytes: number;
  /** Where a copy lies on disk. */
  source: Source | null;
  isSent: boolean;
}

/** Unacknowledged events in memory, in the order in which they are sent. Its owner bounds it by `count` and `bytes`. */
export class EventWindow<Source> {
  readonly #entries = new Map<string, WindowEntry<Source>>();
  #unsent: WindowEntry<Source>[] = [];
  #bytes = 0;
  #inFlight = 0;

  get count(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  add(event: SessionEvent, bytes: number, source: Source | null): void {
    const key = keyOf(event.sessionId, event.sequence);
    if (this.#entries.has(key)) return;
    const entry: WindowEntry<Source> = { event, bytes, source, isSent: false };
    this.#entries.set(key, entry);
    this.#unsent.push(entry);
    this.#bytes += bytes;
  }

  entries(): Iterable<WindowEntry<Source>> {
    return this.#entries.values();
  }

  /** The next event to send, or null when there is none or enough is on its way. */
  takeNext(): SessionEvent | null {
    if (this.#inFlight >= MAX_IN_FLIGHT) return null;
    const entry = this.#unsent.shift();
    if (!entry) return null;
    entry.isSent = true;
    this.#inFlight++;
    return entry.event;
  }

  /** Everything counts as not sent: the link is another one, or it lost something. */
  rewind(): void {
    this.#unsent = [...this.#entries.values()];
    for (const entry of this.#unsent) entry.isSent = false;
    this.#inFlight = 0;
  }

  /** Forgets the event. Null when it isn't there: an acknowledgement may come twice. */
  acknowledge(sessionId: string, sequence: number): WindowEntry<Source> | null {
    const key = keyOf(sessionId, sequence);
    const entry = this.#entries.get(key);
    if (!entry) return null;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    if (entry.isSent) this.#inFlight--;
    else this.#unsent = this.#unsent.filter((waiting) => waiting !== entry);
    return entry;
  }
}

function keyOf(sessionId: string, sequence: number): string {
  return `${sessionId}/${sequence}`;
}
