import { describe, expect, test } from 'vitest';
import {
  END_REASONS,
  type EndReason,
  type Happening,
  type SessionStatus,
  transition,
} from './session-state.ts';

const AT = 100_000;
const session = (status: SessionStatus) => ({
  status,
  startedAtMs: status === 'pending' ? null : 40_000,
  unknownSinceMs: status === 'unknown' ? 70_500 : null,
});

const happenings: Record<string, Happening> = {
  joined: { type: 'joined', atMs: AT },
  sign_of_life: { type: 'sign_of_life' },
  worker_away: { type: 'worker_away', atMs: AT },
  ended: { type: 'ended', endReason: 'agent_hangup', startedAtMs: 40_000, endedAtMs: AT },
  join_deadline_passed: { type: 'join_deadline_passed', atMs: AT },
  cancelled: { type: 'cancelled', atMs: AT },
  hung_up: { type: 'hung_up', atMs: AT },
  given_up: { type: 'given_up' },
};

/** Every happening in every status: the status it leads to, with the end's reason; `=` when nothing changes. */
const TABLE: Record<string, readonly [pending: string, active: string, unknown: string]> = {
  joined: ['active', '=', 'active'],
  sign_of_life: ['=', '=', 'active'],
  worker_away: ['=', 'unknown', '='],
  ended: ['completed/agent_hangup', 'completed/agent_hangup', 'completed/agent_hangup'],
  join_deadline_passed: ['failed/room_join_timeout', '=', '='],
  cancelled: ['failed/cancelled', '=', '='],
  hung_up: ['=', 'completed/user_hangup', 'completed/user_hangup'],
  given_up: ['=', '=', 'failed/internal_error'],
};

describe('the state table', () => {
  const rows = Object.entries(TABLE).flatMap(([name, cells]) =>
    (['pending', 'active', 'unknown'] as const).map((status, i) => [status, name, cells[i]] as const),
  );

  test.each(rows)('a session that is %s, on %s: %s', (status, name, expected) => {
    const happening = happenings[name];
    if (!happening) throw new Error(`no happening ${name}`);
    const change = transition(session(status), happening);
    const reason = change && 'endReason' in change ? `/${change.endReason}` : '';
    expect(change ? `${change.status}${reason}` : '=').toBe(expected);
  });

  test.each(
    (['completed', 'failed'] as const).flatMap((status) =>
      Object.keys(happenings).map((name) => [status, name] as const),
    ),
  )('a session that is %s stays so on %s', (status, name) => {
    const happening = happenings[name];
    if (!happening) throw new Error(`no happening ${name}`);
    expect(transition(session(status), happening)).toBeNull();
  });
});

describe('reasons to end', () => {
  const EXPECTED: Record<EndReason, readonly [status: string, endedReason: string | null]> = {
    user_hangup: ['completed', 'hangup'],
    agent_hangup: ['completed', 'hangup'],
    escalated: ['completed', 'hangup'],
    conversation_timeout: ['completed', 'hangup'],
    heartbeat_timeout: ['completed', 'hangup'],
    dial_failed: ['completed', null],
    llm_endpoint_failure: ['failed', 'error'],
    internal_error: ['failed', 'error'],
    agent_join_timeout: ['failed', 'error'],
    room_join_timeout: ['failed', null],
    cancelled: ['failed', null],
  };

  test.each(Object.entries(EXPECTED))('%s is %s', (reason, [status, endedReason]) => {
    const endReason = reason as EndReason;
    const change = transition(session('active'), {
      type: 'ended',
      endReason,
      startedAtMs: 40_000,
      endedAtMs: AT,
    });
    expect(change).toMatchObject({ status, endReason });
    expect(END_REASONS[endReason].endedReason).toBe(endedReason);
  });
});

describe('what an end owes', () => {
  test('a call is settled by its begun seconds', () => {
    const change = transition(session('active'), {
      type: 'ended',
      endReason: 'user_hangup',
      startedAtMs: 40_000,
      endedAtMs: 99_001,
    });
    expect(change).toMatchObject({
      durationS: 60,
      moneyDue: 'settle',
      startedAtMs: 40_000,
      endedAtMs: 99_001,
    });
  });

  test('the charge of a session nobody joined is given back', () => {
    const change = transition(session('pending'), { type: 'join_deadline_passed', atMs: AT });
    expect(change).toMatchObject({ durationS: null, moneyDue: 'give_back', startedAtMs: null });
  });

  test('a lost call ends, and costs, up to where its worker was last heard', () => {
    const change = transition(session('unknown'), { type: 'given_up' });
    expect(change).toMatchObject({ endedAtMs: 70_500, durationS: 31, moneyDue: 'settle' });
  });

  test('an end whose join was never reported is a call all the same when the worker says it had begun', () => {
    const change = transition(session('pending'), {
      type: 'ended',
      endReason: 'user_hangup',
      startedAtMs: 90_000,
      endedAtMs: AT,
    });
    expect(change).toMatchObject({ status: 'completed', durationS: 10, moneyDue: 'settle' });
  });

  test('clocks that disagree never make a call shorter than nothing', () => {
    const change = transition(session('active'), { type: 'hung_up', atMs: 39_000 });
    expect(change).toMatchObject({ durationS: 0 });
  });
});

describe('an outbound call that still rings', () => {
  const dialing = { ...session('pending'), direction: 'outbound' as const };

  test.each<[string, Happening, string, string | null]>([
    ['answered by media', { type: 'joined', atMs: AT }, 'active', 'answered'],
    ['busy', { type: 'dial_failed', dialStatus: 'busy', atMs: AT }, 'completed/dial_failed', 'busy'],
    [
      'not answered',
      { type: 'dial_failed', dialStatus: 'no_answer', atMs: AT },
      'completed/dial_failed',
      'no_answer',
    ],
    [
      'without news until its deadline',
      { type: 'join_deadline_passed', atMs: AT },
      'completed/dial_failed',
      'failed',
    ],
    ['ended through the API', { type: 'cancelled', atMs: AT }, 'failed/cancelled', 'no_answer'],
    [
      'ended by its worker before the answer',
      { type: 'ended', endReason: 'dial_failed', startedAtMs: null, endedAtMs: AT },
      'completed/dial_failed',
      'failed',
    ],
    [
      'ended by its worker after an answer that was never reported',
      { type: 'ended', endReason: 'user_hangup', startedAtMs: AT - 1, endedAtMs: AT },
      'completed/user_hangup',
      'answered',
    ],
  ])('%s', (_name, happening, expected, dialStatus) => {
    const change = transition(dialing, happening);
    const endReason = change && 'endReason' in change ? `/${change.endReason}` : '';
    expect(`${change?.status}${endReason}`).toBe(expected);
    expect(change).toMatchObject({ dialStatus });
  });

  test('costs nothing unless it was answered', () => {
    const busy = transition(dialing, { type: 'dial_failed', dialStatus: 'busy', atMs: AT });
    expect(busy).toMatchObject({ moneyDue: 'give_back', durationS: null });
  });

  test('an inbound session knows no dial', () => {
    const failed = { type: 'dial_failed', dialStatus: 'busy', atMs: AT } as const;
    expect(transition(session('pending'), failed)).toBeNull();
    expect(transition(session('pending'), { type: 'joined', atMs: AT })).not.toHaveProperty('dialStatus');
  });

  test('an answered call is not dialled again', () => {
    const active = { ...session('active'), direction: 'outbound' as const };
    expect(transition(active, { type: 'dial_failed', dialStatus: 'busy', atMs: AT })).toBeNull();
  });
});
