import { Failure } from '../../shared/errors.ts';
import type { SessionSpec } from '../../shared/generated/parley/v1/worker_link.ts';
import type { Logger } from '../../shared/log.ts';
import {
  type Coordination,
  CoordinationUnavailable,
  type WorkerStatus,
} from '../coordination/coordination.ts';
import type { WorkerLink } from './worker-link.ts';

const MAX_WORKERS_TRIED = 3;
const RESERVE_DEADLINE_MS = 1_500;
/** Until the worker's next heartbeats have counted the session. */
const SLOT_LIFE_MS = 10_000;
/** Where workers begin to refuse by themselves. */
const MAX_TICKER_LATENESS_P99_MS = 10;

export interface PlacementDeps {
  readonly link: Pick<WorkerLink, 'linkedWorkers' | 'reserve' | 'release'>;
  readonly coordination: Pick<Coordination, 'liveWorkers' | 'reserveSlot' | 'releaseSlot'>;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: Logger;
}

export interface Placed {
  readonly workerId: string;
  readonly publicUrl: string;
}

interface Candidate {
  readonly worker: WorkerStatus;
  readonly isShared: boolean;
}

/** Finds a worker for a session. */
export function createPlacement(deps: PlacementDeps) {
  const { link, coordination, log } = deps;

  /** Workers that this replica can command and that have room, as all replicas together know them. */
  async function candidates(): Promise<Candidate[]> {
    const shared = await coordination.liveWorkers().catch(orWithoutCoordination<WorkerStatus[]>([]));
    const byId = new Map(shared.map((worker) => [worker.workerId, worker]));
    return link
      .linkedWorkers()
      .map((worker) => ({ worker: byId.get(worker.workerId) ?? worker, isShared: byId.has(worker.workerId) }))
      .filter(({ worker }) => hasRoom(worker));
  }

  /**
   * Keeps replicas out of each other's way. The reservation at the worker is the one that counts, so a worker that
   * coordination doesn't know, because it was restarted a moment ago, is asked all the same.
   */
  async function takeSlot({ worker, isShared }: Candidate, sessionId: string): Promise<boolean> {
    if (!isShared) return true;
    return coordination
      .reserveSlot(worker.workerId, sessionId, SLOT_LIFE_MS)
      .catch(orWithoutCoordination(true));
  }

  async function giveSlotBack(workerId: string, sessionId: string): Promise<void> {
    await coordination.releaseSlot(workerId, sessionId).catch(orWithoutCoordination(undefined));
  }

  /**
   * Reserves the session on one of at most 3 workers, chosen at random with the weight of their free slots. Throws
   * `Failure` `upstream_failed` when none takes it; nothing stays reserved then.
   */
  async function place(spec: SessionSpec): Promise<Placed> {
    const left = await candidates();
    let tried = 0;
    while (left.length > 0 && tried < MAX_WORKERS_TRIED) {
      const [candidate] = left.splice(weightedIndex(left, deps.random()), 1);
      if (!candidate) break;
      if (!(await takeSlot(candidate, spec.sessionId))) continue;
      const { worker } = candidate;
      tried++;
      const outcome = await link.reserve(worker.workerId, spec, RESERVE_DEADLINE_MS);
      if (outcome.isAccepted) return { workerId: worker.workerId, publicUrl: worker.publicUrl };
      log.warn(
        { workerId: worker.workerId, sessionId: spec.sessionId, refusal: outcome.refusal },
        'worker refused',
      );
      await giveSlotBack(worker.workerId, spec.sessionId);
    }
    log.error({ sessionId: spec.sessionId, tried }, 'no worker takes the session');
    throw new Failure('upstream_failed', 'Agent gateway is unreachable');
  }

  /** Undoes `place` for a session that came to nothing before anybody joined. Never rejects. */
  async function release(workerId: string, sessionId: string): Promise<void> {
    link.release(workerId, sessionId);
    await giveSlotBack(workerId, sessionId).catch(() => {});
  }

  return { place, release };
}
export type Placement = ReturnType<typeof createPlacement>;

function hasRoom(worker: WorkerStatus): boolean {
  return (
    !worker.isDraining &&
    worker.occupied < worker.capacity &&
    worker.tickerLatenessP99Ms <= MAX_TICKER_LATENESS_P99_MS
  );
}

/** Index of the worker under which `share` of all free slots falls. */
function weightedIndex(candidates: readonly Candidate[], share: number): number {
  const free = candidates.map(({ worker }) => worker.capacity - worker.occupied);
  let left = share * free.reduce((sum, slots) => sum + slots, 0);
  for (const [index, slots] of free.entries()) {
    left -= slots;
    if (left < 0) return index;
  }
  return candidates.length - 1;
}

/** Placement goes on without coordination: the worker itself never takes more than it has slots for. */
function orWithoutCoordination<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof CoordinationUnavailable) return otherwise;
    throw error;
  };
}
