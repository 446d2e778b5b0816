import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import { aftermathOf } from './session-notices.ts';
import { type Happening, transition } from './session-state.ts';
import type { SessionDoc, SessionStore } from './session-store.ts';

/** Money, by session. Each function may be called again for the same session and counts once. */
export interface SessionWallet {
  /** Takes `amountMicros` from the workspace's payer, never below zero. Throws `Failure` out_of_credit. */
  readonly chargeUpFront: (workspaceId: string, amountMicros: number, sessionId: string) => Promise<unknown>;
  /** Undoes a charge made up front; one that was never made is nothing. */
  readonly giveBack: (sessionId: string) => Promise<unknown>;
  /** Replaces the charge made up front by what the call costs by the second. */
  readonly settle: (sessionId: string, seconds: number) => Promise<unknown>;
}

/** A change that others keep overtaking is given up after this many tries; statuses only move forward, so few are needed. */
const MAX_TRIES = 8;

/** Moves sessions by the state table and pays what their end owes. */
export function createSessionTransitions(deps: {
  readonly sessions: SessionStore;
  readonly wallet: SessionWallet;
  /** Events were written, or an analysis was queued. */
  readonly onAftermath?: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const { sessions, wallet, clock, log } = deps;

  /**
   * Applies a happening and answers the session as it is then, null when there is no such session. A happening that
   * changes nothing is no error; calling again is harmless.
   */
  async function move(
    sessionId: string,
    happening: Happening,
    workerId: string | null = null,
  ): Promise<SessionDoc | null> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const session = await sessions.findAnywhere(sessionId);
      if (!session) return null;
      const change = transition(session, happening);
      if (!change) return session;
      const nowMs = clock.nowMs();
      const aftermath = aftermathOf(session, change, nowMs);
      const moved = await sessions.change(sessionId, session.status, change, workerId, aftermath, nowMs);
      if (!moved) continue;
      if (aftermath.notices.length > 0 || aftermath.analysis) deps.onAftermath?.();
      log.info(
        { sessionId, from: session.status, to: moved.status, endReason: moved.endReason },
        'session changed its state',
      );
      await pay(moved);
      return moved;
    }
    throw new Error('session kept changing while it was to be changed');
  }

  /** Pays what an ended session owes. A failure is logged and left to the sweeper: usage never fails a request. */
  async function pay(session: SessionDoc): Promise<void> {
    if (session.moneyDue === null) return;
    const sessionId = session._id;
    try {
      if (session.isBilled && session.moneyDue === 'give_back') await wallet.giveBack(sessionId);
      if (session.isBilled && session.moneyDue === 'settle')
        await wallet.settle(sessionId, session.durationS ?? 0);
      await sessions.clearMoneyDue(sessionId);
    } catch (err) {
      log.warn({ err, sessionId, due: session.moneyDue }, 'session is not paid yet and will be tried again');
    }
  }
  return { move, pay };
}
export type SessionTransitions = ReturnType<typeof createSessionTransitions>;
