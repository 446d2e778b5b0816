import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SessionEvent } from '../../shared/generated/parley/v1/worker_link.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import { EventSpool } from './event-spool.ts';
import { EventWindow } from './event-window.ts';
import { claimLeftSpools, type SpoolOwner, spoolName, touchSpool } from './left-spools.ts';

export type SessionEventBody = NonNullable<SessionEvent['event']>;

/** Past these, events go to disk alone and come back as acknowledgements make room. */
const MAX_MEMORY_EVENTS = 2_000;
const MAX_MEMORY_BYTES = 8 * 1024 * 1024;
const MAX_SPOOL_BYTES = 512 * 1024 * 1024;
/** Above this share of the spool diagnostics are dropped, above the second everything but `joined` and `ended`. */
const DROP_DIAGNOSTICS_SHARE = 0.75;
const DROP_MOST_SHARE = 0.95;
/** Just under the largest message that the control plane takes. */
const MAX_EVENT_BYTES = 4 * 1024 * 1024;
/** An event that was not stored is not answered. Without any answer for so long everything unanswered goes again. */
const RESEND_AFTER_MS = 3_000;
const CLAIM_EVERY_MS = 60_000;
const REMEMBERED_SETTLED = 1_000;

export interface EventOutboxDeps {
  /** Directory for spools. Workers of one machine may share it. */
  readonly dir: string;
  readonly owner: SpoolOwner;
  readonly clock: Clock;
  readonly log: Logger;
  /** The session has ended and everything about it is stored. Comes once per session. */
  readonly onSettled?: (sessionId: string) => void;
  readonly maxMemoryEvents?: number;
  readonly maxMemoryBytes?: number;
  readonly maxSpoolBytes?: number;
}

interface SessionLedger {
  lastSequence: number;
  unacknowledged: number;
  isEnded: boolean;
}

interface SpoolSource {
  readonly spool: EventSpool;
  /** Read into memory and not acknowledged. */
  unacknowledged: number;
}

/**
 * Session events on their way to the store: numbered from 1 within each session, kept until acknowledged, sent in
 * order, sent again after a reconnect. While no control plane is linked, or past a bound, all of them are on disk
 * too, and what a dead process left on disk is sent by the next one. A full disk queue drops diagnostics first,
 * then everything but `joined` and `ended`; a dropped event has no number, so no gap shows.
 */
export class EventOutbox {
  readonly #deps: EventOutboxDeps;
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  readonly #sessions = new Map<string, SessionLedger>();
  readonly #settledLately = new Set<string>();
  readonly #window = new EventWindow<SpoolSource>();
  #send: ((event: SessionEvent) => void) | null = null;
  #own: SpoolSource | null = null;
  #left: SpoolSource[] = [];
  #spoolIndex = 0;
  #isRefilling = false;
  #isReadingOwn = false;
  #lastProgressMs = 0;
  #claimedAtMs = 0;
  #droppedCount = 0;

  constructor(deps: EventOutboxDeps) {
    this.#deps = deps;
    this.#maxEvents = deps.maxMemoryEvents ?? MAX_MEMORY_EVENTS;
    this.#maxBytes = deps.maxMemoryBytes ?? MAX_MEMORY_BYTES;
  }

  /** Takes over what dead processes left. Never rejects: a disk that fails is logged and costs only the spooling. */
  async start(): Promise<void> {
    await mkdir(this.#deps.dir, { recursive: true, mode: 0o700 }).catch(() => {});
    await this.#claimLeft();
  }

  /**
   * Gives the event its number and sends it as soon as it can. Never throws and never waits. `ended` is a session's
   * last event; what comes after it is dropped.
   */
  publish(sessionId: string, body: SessionEventBody): void {
    const ledger = this.#sessions.get(sessionId) ?? { lastSequence: 0, unacknowledged: 0, isEnded: false };
    if (ledger.isEnded || this.#settledLately.has(sessionId)) {
      this.#deps.log.warn({ sessionId, event: body.$case }, 'event after the end of its session dropped');
      return;
    }
    const event: SessionEvent = {
      sessionId,
      sequence: ledger.lastSequence + 1,
      atMs: this.#deps.clock.nowMs(),
      event: body,
    };
    const record = this.#encode(event);
    if (record === null || !this.#keep(event, record)) return this.#countDropped(sessionId, body);
    ledger.lastSequence++;
    ledger.unacknowledged++;
    ledger.isEnded = body.$case === 'ended';
    this.#sessions.set(sessionId, ledger);
    this.#pump();
  }

  /** True when nothing is owed about the session: it has ended and is stored, or it never had an event. */
  isSettled(sessionId: string): boolean {
    return !this.#sessions.has(sessionId);
  }

  /** Sessions with events that aren't settled, ended or not. */
  unsettledSessionIds(): string[] {
    return [...this.#sessions.keys()];
  }

  /** True when every event, those of dead processes too, has been acknowledged. */
  get isEmpty(): boolean {
    return (
      this.#window.count === 0 && !this.#hasUnread(this.#own) && !this.#left.some((s) => s.spool.hasUnread)
    );
  }

  get droppedCount(): number {
    return this.#droppedCount;
  }

  /** A link is up: everything unacknowledged goes over it, oldest first. `send` must not throw. */
  connect(send: (event: SessionEvent) => void): void {
    this.#send = send;
    this.#window.rewind();
    this.#lastProgressMs = this.#deps.clock.monotonicMs();
    this.#pump();
    void this.#refill();
  }

  /** No link is up: from here on everything unacknowledged is on disk as well. */
  disconnect(): void {
    this.#send = null;
    this.#spillMemory();
  }

  acknowledge(sessionId: string, sequence: number): void {
    const entry = this.#window.acknowledge(sessionId, sequence);
    if (!entry) return;
    this.#lastProgressMs = this.#deps.clock.monotonicMs();
    if (entry.source) entry.source.unacknowledged--;
    const ledger = this.#sessions.get(sessionId);
    if (ledger) ledger.unacknowledged--;
    if (ledger?.isEnded && ledger.unacknowledged === 0) this.#settle(sessionId);
    this.#removeFinishedSpools();
    this.#pump();
    void this.#refill();
  }

  /** Called about once a second: sends again what stays unanswered, and keeps the spools alive. */
  beat(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#send && this.#window.inFlight > 0 && nowMs - this.#lastProgressMs >= RESEND_AFTER_MS) {
      this.#lastProgressMs = nowMs;
      this.#window.rewind();
      this.#pump();
    }
    for (const source of this.#sources()) {
      void source.spool.flush();
      void touchSpool(source.spool.path, this.#deps.clock.nowMs());
    }
    if (nowMs - this.#claimedAtMs >= CLAIM_EVERY_MS) void this.#claimLeft();
  }

  /** Leaves on disk what has not been acknowledged, for the next process. */
  async stop(): Promise<void> {
    this.disconnect();
    await Promise.all(this.#sources().map((source) => source.spool.close()));
  }

  #encode(event: SessionEvent): Uint8Array | null {
    try {
      const record = SessionEvent.encode(event).finish();
      if (record.length <= MAX_EVENT_BYTES) return record;
      this.#deps.log.error(
        { sessionId: event.sessionId, bytes: record.length },
        'event is too large to be sent',
      );
    } catch (cause) {
      this.#deps.log.error({ err: cause, sessionId: event.sessionId }, 'event can not be encoded');
    }
    return null;
  }

  /** Puts the event into memory, on disk or both; false when it has to be dropped. */
  #keep(event: SessionEvent, record: Uint8Array): boolean {
    const isMemoryFull = this.#window.count >= this.#maxEvents || this.#window.bytes >= this.#maxBytes;
    const isBehind = this.#isReadingOwn || this.#hasUnread(this.#own);
    if (this.#send && !isMemoryFull && !isBehind) {
      this.#window.add(event, record.length, null);
      return true;
    }
    this.#spillMemory();
    const own = this.#ownSpool();
    if (isDroppedAt(own.spool.fillShare, event.event)) return false;
    const staysInMemory = !isMemoryFull && !isBehind;
    if (!own.spool.append(record, staysInMemory)) return false;
    if (staysInMemory) {
      this.#window.add(event, record.length, own);
      own.unacknowledged++;
    }
    return true;
  }

  #spillMemory(): void {
    for (const entry of this.#window.entries()) {
      if (entry.source) continue;
      const own = this.#ownSpool();
      if (!own.spool.append(SessionEvent.encode(entry.event).finish(), true)) return;
      entry.source = own;
      own.unacknowledged++;
    }
  }

  #pump(): void {
    for (;;) {
      const event = this.#send ? this.#window.takeNext() : null;
      if (!event) return;
      this.#send?.(event);
    }
  }

  /** Brings events back from disk while there is room, this process's own first. */
  async #refill(): Promise<void> {
    if (this.#isRefilling) return;
    this.#isRefilling = true;
    try {
      while (
        this.#send &&
        this.#window.count < this.#maxEvents / 2 &&
        this.#window.bytes < this.#maxBytes / 2
      ) {
        const source = this.#sources().find((s) => s.spool.hasUnread);
        if (!source) return;
        // Until the records are in memory, new events of the same session must stay behind them.
        this.#isReadingOwn = source === this.#own;
        for (const record of await source.spool.read()) this.#restore(record, source);
        this.#isReadingOwn = false;
        this.#removeFinishedSpools();
        this.#pump();
      }
    } finally {
      this.#isReadingOwn = false;
      this.#isRefilling = false;
    }
  }

  #restore(record: Uint8Array, source: SpoolSource): void {
    try {
      this.#window.add(SessionEvent.decode(record), record.length, source);
      source.unacknowledged++;
    } catch (cause) {
      this.#deps.log.error(
        { err: cause, path: source.spool.path },
        'record of an event spool can not be read',
      );
    }
  }

  #settle(sessionId: string): void {
    this.#sessions.delete(sessionId);
    this.#settledLately.add(sessionId);
    for (const oldest of this.#settledLately) {
      if (this.#settledLately.size <= REMEMBERED_SETTLED) break;
      this.#settledLately.delete(oldest);
    }
    this.#deps.onSettled?.(sessionId);
  }

  #removeFinishedSpools(): void {
    const isFinished = (s: SpoolSource) => s.unacknowledged === 0 && !s.spool.hasUnread;
    if (this.#send && this.#own && isFinished(this.#own)) {
      void this.#own.spool.remove();
      this.#own = null;
    }
    for (const source of this.#left.filter(isFinished)) void source.spool.remove();
    this.#left = this.#left.filter((source) => !isFinished(source));
  }

  async #claimLeft(): Promise<void> {
    const { dir, owner, clock, log } = this.#deps;
    this.#claimedAtMs = clock.monotonicMs();
    try {
      const claimed = await claimLeftSpools(dir, owner, clock.nowMs(), () => this.#spoolIndex++);
      for (const { path, bytes } of claimed) {
        const spool = new EventSpool({ path, maxBytes: bytes, log }, bytes);
        this.#left.push({ spool, unacknowledged: 0 });
        log.info({ path, bytes }, 'events of a dead worker process found');
      }
      if (claimed.length > 0) void this.#refill();
    } catch (cause) {
      log.error({ err: cause, dir }, 'directory of event spools can not be read');
    }
  }

  #ownSpool(): SpoolSource {
    if (!this.#own) {
      const { dir, owner, log } = this.#deps;
      const path = join(dir, spoolName(owner, this.#spoolIndex++));
      const maxBytes = this.#deps.maxSpoolBytes ?? MAX_SPOOL_BYTES;
      this.#own = { spool: new EventSpool({ path, maxBytes, log }), unacknowledged: 0 };
    }
    return this.#own;
  }

  #sources(): SpoolSource[] {
    return this.#own ? [this.#own, ...this.#left] : [...this.#left];
  }

  #hasUnread(source: SpoolSource | null): boolean {
    return source?.spool.hasUnread ?? false;
  }

  #countDropped(sessionId: string, body: SessionEventBody): void {
    this.#droppedCount++;
    this.#deps.log.error(
      { sessionId, event: body.$case, droppedCount: this.#droppedCount },
      'session event dropped: it can not be kept until it is stored',
    );
  }
}

function isDroppedAt(fillShare: number, body: SessionEvent['event']): boolean {
  const isDiagnostic = body?.$case === 'decisionLog' || body?.$case === 'turnMetrics';
  if (isDiagnostic) return fillShare >= DROP_DIAGNOSTICS_SHARE;
  return body?.$case !== 'ended' && body?.$case !== 'joined' && fillShare >= DROP_MOST_SHARE;
}
