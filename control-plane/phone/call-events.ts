import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { CallSessions } from './call-sessions.ts';
import type { CarrierEvent } from './carrier.ts';
import type { CarrierDesk } from './carrier-desk.ts';
import type { PhoneCallStore } from './phone-call-store.ts';

export interface CallEventsDeps {
  readonly calls: PhoneCallStore;
  readonly sessions: Pick<CallSessions, 'answered' | 'dialFailed' | 'hungUp'>;
  readonly desk: CarrierDesk;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Delays after which an event that could not be stored is tried again; then the sweeper ends the session. */
const RETRY_DELAYS_MS = [500, 2_000, 8_000];

/** Writes into the records what the carrier tells of calls. */
export function createCallEvents({ calls, sessions, desk, clock, log }: CallEventsDeps) {
  const closing = new AbortController();
  /** The last event of each call that is still being written: news of one call is written in order. */
  const writing = new Map<string, Promise<void>>();

  function take(event: CarrierEvent): void {
    const { callId } = event;
    const done = (writing.get(callId) ?? Promise.resolve()).then(() => applyPatiently(event));
    writing.set(callId, done);
    void done.then(() => {
      if (writing.get(callId) === done) writing.delete(callId);
    });
  }

  async function applyPatiently(event: CarrierEvent): Promise<void> {
    for (const delayMs of [...RETRY_DELAYS_MS, null]) {
      try {
        await apply(event);
        return;
      } catch (err) {
        const fields = { err, sessionId: event.callId, type: event.type };
        if (delayMs === null) return log.error(fields, 'news of a call is lost');
        log.warn(fields, 'news of a call could not be stored and will be tried again');
        await clock.sleep(delayMs, closing.signal);
      }
    }
  }

  /** Applying the same event again changes nothing. */
  async function apply(event: CarrierEvent): Promise<void> {
    const { callId, atMs } = event;
    if (event.type === 'answered') {
      await sessions.answered(callId, atMs);
      return;
    }
    if (event.outcome === 'answered') {
      // Where the answer itself got lost, the call counts from its end on.
      await sessions.answered(callId, atMs);
      await sessions.hungUp(callId, atMs);
    } else await sessions.dialFailed(callId, event.outcome, atMs);
    await calls.remove(callId);
  }

  /** Hangs a call up. False when the session isn't a phone call. Throws `Failure` when the carrier can't be asked. */
  async function hangUp(sessionId: string): Promise<boolean> {
    if (!(await calls.find(sessionId))) return false;
    await desk.ask((carrier) => carrier.hangUp(sessionId));
    await calls.remove(sessionId);
    return true;
  }

  /** Resolves when all news taken so far is written. */
  async function settled(): Promise<void> {
    await Promise.all(writing.values());
  }

  /** Writes what was taken so far, without waiting between tries. */
  function close(): Promise<void> {
    closing.abort();
    return settled();
  }

  return { take, hangUp, settled, close };
}
