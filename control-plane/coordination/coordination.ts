/** What a worker says of itself with every heartbeat. */
export interface WorkerStatus {
  readonly workerId: string;
  readonly publicUrl: string;
  readonly capacity: number;
  /** Reserved and live sessions together. */
  readonly occupied: number;
  readonly isDraining: boolean;
  readonly eventLoopDelayP99Ms: number;
  readonly tickerLatenessP99Ms: number;
  /** The sessions counted in `occupied`. */
  readonly sessionIds: readonly string[];
}

/**
 * Port: soft state shared by the control plane's replicas. Everything in it can be lost and is rebuilt by
 * heartbeats within one beat. Every operation answers or throws `CoordinationUnavailable` within 1 s.
 */
export interface Coordination {
  /** Records the worker and which sessions it holds, and which replica holds its link, for `ttlMs`. */
  heartbeat(status: WorkerStatus, controlPlaneId: string, ttlMs: number): Promise<void>;
  removeWorker(workerId: string): Promise<void>;
  /** Workers whose last heartbeat hasn't run out; `occupied` includes the slots taken since. */
  liveWorkers(): Promise<(WorkerStatus & { readonly controlPlaneId: string })[]>;
  /**
   * Takes a slot of the worker until a heartbeat names the session or `ttlMs` passes. False when the worker is
   * full, draining or not alive; true without another slot when the session has one already.
   */
  reserveSlot(workerId: string, sessionId: string, ttlMs: number): Promise<boolean>;
  /** Gives the session's slot back, also one that a heartbeat has counted already. */
  releaseSlot(workerId: string, sessionId: string): Promise<void>;
  /** The live worker that holds the session or a slot for it, or null. */
  locate(sessionId: string): Promise<{ readonly workerId: string; readonly controlPlaneId: string } | null>;
  /** Counts a hit in the fixed window that holds now; true while the count is at most `limit`. Windows start at multiples of `windowMs` since 1970. */
  hit(key: string, limit: number, windowMs: number): Promise<boolean>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export class CoordinationUnavailable extends Error {
  constructor(cause?: unknown) {
    super('coordination did not answer', { cause });
    this.name = 'CoordinationUnavailable';
  }
}
