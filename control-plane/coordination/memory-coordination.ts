import type { Clock } from '../../shared/time.ts';
import { type Coordination, CoordinationUnavailable, type WorkerStatus } from './coordination.ts';
import { HitWindows } from './hit-windows.ts';

interface Worker {
  readonly status: WorkerStatus;
  readonly controlPlaneId: string;
  readonly expiresAtMs: number;
}

/** Session → when its slot is free again, for the slots of one worker that no heartbeat has counted. */
type Slots = Map<string, number>;

/**
 * Coordination for one control-plane replica. No operation waits for anything between reading and writing, which
 * is what makes each of them atomic.
 */
export class MemoryCoordination implements Coordination {
  readonly #clock: Clock;
  readonly #workers = new Map<string, Worker>();
  readonly #slots = new Map<string, Slots>();
  readonly #hits: HitWindows;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#hits = new HitWindows(clock);
  }

  async heartbeat(status: WorkerStatus, controlPlaneId: string, ttlMs: number): Promise<void> {
    this.#prune();
    const { workerId } = status;
    this.#workers.set(workerId, { status, controlPlaneId, expiresAtMs: this.#nowMs() + ttlMs });
    const slots = this.#slots.get(workerId);
    for (const sessionId of status.sessionIds) slots?.delete(sessionId);
  }

  async removeWorker(workerId: string): Promise<void> {
    this.#prune();
    this.#workers.delete(workerId);
    this.#slots.delete(workerId);
  }

  async liveWorkers(): Promise<(WorkerStatus & { readonly controlPlaneId: string })[]> {
    this.#prune();
    return Array.from(this.#workers.values(), ({ status, controlPlaneId }) => ({
      ...status,
      occupied: this.#occupied(status),
      controlPlaneId,
    }));
  }

  async reserveSlot(workerId: string, sessionId: string, ttlMs: number): Promise<boolean> {
    this.#prune();
    const status = this.#workers.get(workerId)?.status;
    if (!status) return false;
    const slots = this.#slots.get(workerId) ?? new Map<string, number>();
    if (slots.has(sessionId) || status.sessionIds.includes(sessionId)) return true;
    if (status.isDraining || this.#occupied(status) >= status.capacity) return false;
    slots.set(sessionId, this.#nowMs() + ttlMs);
    this.#slots.set(workerId, slots);
    return true;
  }

  async releaseSlot(workerId: string, sessionId: string): Promise<void> {
    this.#prune();
    this.#slots.get(workerId)?.delete(sessionId);
    const worker = this.#workers.get(workerId);
    if (!worker?.status.sessionIds.includes(sessionId)) return;
    const status = {
      ...worker.status,
      occupied: worker.status.occupied - 1,
      sessionIds: worker.status.sessionIds.filter((id) => id !== sessionId),
    };
    this.#workers.set(workerId, { ...worker, status });
  }

  async locate(
    sessionId: string,
  ): Promise<{ readonly workerId: string; readonly controlPlaneId: string } | null> {
    this.#prune();
    for (const [workerId, { status, controlPlaneId }] of this.#workers) {
      const isHeld = status.sessionIds.includes(sessionId) || this.#slots.get(workerId)?.has(sessionId);
      if (isHeld) return { workerId, controlPlaneId };
    }
    return null;
  }

  async hit(key: string, limit: number, windowMs: number): Promise<boolean> {
    this.#refuseWhenClosed();
    return this.#hits.count(key, windowMs) <= limit;
  }

  async ping(): Promise<void> {
    this.#refuseWhenClosed();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #occupied(status: WorkerStatus): number {
    return status.occupied + (this.#slots.get(status.workerId)?.size ?? 0);
  }

  #nowMs(): number {
    return this.#clock.monotonicMs();
  }

  /** Drops what has run out, before each operation: what is left is true now. */
  #prune(): void {
    this.#refuseWhenClosed();
    const nowMs = this.#nowMs();
    for (const [workerId, { expiresAtMs }] of this.#workers) {
      if (expiresAtMs <= nowMs) this.#workers.delete(workerId);
    }
    for (const [workerId, slots] of this.#slots) {
      for (const [sessionId, expiresAtMs] of slots) {
        if (expiresAtMs <= nowMs) slots.delete(sessionId);
      }
      if (slots.size === 0) this.#slots.delete(workerId);
    }
  }

  #refuseWhenClosed(): void {
    if (this.#isClosed) throw new CoordinationUnavailable(new Error('coordination is closed'));
  }
}
