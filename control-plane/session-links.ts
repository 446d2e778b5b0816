import type { SessionSpec } from '../shared/generated/parley/v1/worker_link.ts';
import type { Coordination } from './coordination/coordination.ts';
import type { Placement } from './dispatch/placement.ts';
import type { WorkerLink } from './dispatch/worker-link.ts';

export interface SessionLinksDeps {
  readonly link: Pick<WorkerLink, 'linkedWorkers' | 'end'>;
  /** Calls that the carrier holds. */
  readonly phones: {
    /** False when the session isn't a phone call. */
    readonly hangUp: (sessionId: string) => Promise<boolean>;
    readonly heldSessions: () => readonly string[];
  };
  readonly placement: Placement;
  readonly coordination: Pick<Coordination, 'liveWorkers' | 'locate'>;
}

/** Workers and the carrier as sessions speak of them: by session, wherever it is. */
export function createSessionLinks({ link, phones, placement, coordination }: SessionLinksDeps) {
  /** Reserves a slot; `rtcUrl` is the worker's address as LiveKit clients take it (ws or wss). */
  async function place(spec: SessionSpec): Promise<{ workerId: string; rtcUrl: string }> {
    const { workerId, publicUrl } = await placement.place(spec);
    return { workerId, rtcUrl: publicUrl.replace(/^http/, 'ws') };
  }

  /** Frees the slot of a session that nobody will join. A worker that doesn't hold it ignores this. */
  async function release(sessionId: string): Promise<void> {
    await phones.hangUp(sessionId);
    const place = await coordination.locate(sessionId).catch(() => null);
    const workerIds = place ? [place.workerId] : link.linkedWorkers().map((worker) => worker.workerId);
    await Promise.all(workerIds.map((workerId) => placement.release(workerId, sessionId)));
  }

  /** Hangs up; false when nobody holds the session. Throws `Failure` when who holds it can't be reached. */
  async function end(sessionId: string, endReason: string): Promise<boolean> {
    const isPhoneCall = await phones.hangUp(sessionId);
    return (await link.end(sessionId, endReason)) || isPhoneCall;
  }

  /** The sessions that live workers, here and at other replicas, and the carrier name as theirs. Rejects when that isn't known. */
  async function heldSessions(): Promise<ReadonlySet<string>> {
    const everywhere = await coordination.liveWorkers();
    const onWorkers = [...everywhere, ...link.linkedWorkers()].flatMap((worker) => worker.sessionIds);
    return new Set([...onWorkers, ...phones.heldSessions()]);
  }

  return { place, release, end, heldSessions };
}
