import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { SessionStore } from './session-store.ts';
import type { SessionTransitions } from './session-transitions.ts';

const SWEEP_INTERVAL_MS = 2_000;
/** After a start: workers dial again and report what happened meanwhile before anything is judged. */
const FIRST_SWEEP_MS = 10_000;
/** A join at the last moment is reported a little after the deadline. */
const JOIN_GRACE_MS = 5_000;
/** A new session is in its worker's next heartbeat. */
const PLACEMENT_GRACE_MS = 5_000;
/** With the time until a missing worker is noticed, a session's fate is known within 30 s. */
const RECOVERY_MS = 22_000;
/** Records looked at per sweep and kind. */
const BATCH = 5_000;

export interface SessionSweeperDeps {
  readonly sessions: SessionStore;
  readonly transitions: SessionTransitions;
  /** Sessions that live workers name as theirs; rejects when that can't be known now. */
  readonly heldSessions: () => Promise<ReadonlySet<string>>;
  /** Frees the slot of a session that nobody joined. */
  readonly release: (sessionId: string) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Ends what nobody reports the end of, and pays what is still owed. Any number of replicas may sweep at once. */
export function createSessionSweeper(deps: SessionSweeperDeps) {
  const { sessions, transitions, clock, log } = deps;

  /** Sweeps until `signal` aborts. */
  async function run(signal: AbortSignal): Promise<void> {
    await clock.sleep(FIRST_SWEEP_MS, signal);
    while (!signal.aborted) {
      await sweep().catch((err) => log.warn({ err }, 'sessions could not be swept and will be again'));
      await clock.sleep(SWEEP_INTERVAL_MS, signal);
    }
  }

  async function sweep(): Promise<void> {
    await endUnjoined();
    await followWorkers();
    for (const session of await sessions.listMoneyDue(BATCH)) await transitions.pay(session);
  }

  async function endUnjoined(): Promise<void> {
    for (const { _id } of await sessions.listUnjoined(clock.nowMs() - JOIN_GRACE_MS, BATCH)) {
      await transitions.move(_id, { type: 'join_deadline_passed', atMs: clock.nowMs() });
      await deps.release(_id).catch(() => {
        // The worker frees the slot by itself at the join deadline.
      });
    }
  }

  /** `active` while a worker names the session, `unknown` while none does, given up in the end. */
  async function followWorkers(): Promise<void> {
    const held = await deps.heldSessions().catch(() => null);
    if (held === null) return;
    const nowMs = clock.nowMs();
    for (const { _id, createdAtMs } of await sessions.listInStatus('active', BATCH)) {
      if (held.has(_id) || createdAtMs > nowMs - PLACEMENT_GRACE_MS) continue;
      await transitions.move(_id, { type: 'worker_away', atMs: nowMs });
    }
    for (const { _id, unknownSinceMs } of await sessions.listInStatus('unknown', BATCH)) {
      if (held.has(_id)) await transitions.move(_id, { type: 'sign_of_life' });
      else if ((unknownSinceMs ?? 0) <= nowMs - RECOVERY_MS)
        await transitions.move(_id, { type: 'given_up' });
    }
  }
  return { run, sweep };
}
