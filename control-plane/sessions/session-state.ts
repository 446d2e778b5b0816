export type SessionStatus = 'pending' | 'active' | 'completed' | 'failed' | 'unknown';

/** What a reason to end means: the final status, and `ended_reason` of the `call.ended` event for a session that was a call. */
export const END_REASONS = {
  user_hangup: { status: 'completed', endedReason: 'hangup' },
  agent_hangup: { status: 'completed', endedReason: 'hangup' },
  escalated: { status: 'completed', endedReason: 'hangup' },
  conversation_timeout: { status: 'completed', endedReason: 'hangup' },
  heartbeat_timeout: { status: 'completed', endedReason: 'hangup' },
  dial_failed: { status: 'completed', endedReason: null },
  llm_endpoint_failure: { status: 'failed', endedReason: 'error' },
  internal_error: { status: 'failed', endedReason: 'error' },
  agent_join_timeout: { status: 'failed', endedReason: 'error' },
  room_join_timeout: { status: 'failed', endedReason: null },
  cancelled: { status: 'failed', endedReason: null },
} as const;
export type EndReason = keyof typeof END_REASONS;

/** How the attempt to reach a person ended; for outbound calls alone. */
export type DialStatus = 'answered' | 'busy' | 'no_answer' | 'failed';

/** Something that may move a session. Times are wall clock, ms since 1970. */
export type Happening =
  /** First client media connected. */
  | { readonly type: 'joined'; readonly atMs: number }
  /** The worker reported something else: it is there and holds the session. */
  | { readonly type: 'sign_of_life' }
  /** The worker can't be reached, or no longer names the session. */
  | { readonly type: 'worker_away'; readonly atMs: number }
  /** The worker's last word. `startedAtMs` is null when nobody had joined. */
  | {
      readonly type: 'ended';
      readonly endReason: EndReason;
      readonly startedAtMs: number | null;
      readonly endedAtMs: number;
    }
  | { readonly type: 'join_deadline_passed'; readonly atMs: number }
  /** Nobody answered the outbound call. */
  | {
      readonly type: 'dial_failed';
      readonly dialStatus: Exclude<DialStatus, 'answered'>;
      readonly atMs: number;
    }
  /** Ended through the API before anyone joined. */
  | { readonly type: 'cancelled'; readonly atMs: number }
  /** Ended through the API, and the worker has hung up. */
  | { readonly type: 'hung_up'; readonly atMs: number }
  /** The worker stayed away for longer than a session can be recovered. */
  | { readonly type: 'given_up' };

/** What a happening is judged by. */
export interface SessionSoFar {
  /** A record without the field counts as inbound. */
  readonly direction?: 'inbound' | 'outbound';
  readonly status: SessionStatus;
  readonly startedAtMs: number | null;
  readonly unknownSinceMs: number | null;
}

/** The fields a happening sets. */
export type SessionChange =
  | {
      readonly status: 'active';
      readonly startedAtMs: number | null;
      readonly unknownSinceMs: null;
      readonly dialStatus?: DialStatus;
    }
  | { readonly status: 'unknown'; readonly unknownSinceMs: number }
  | SessionEnd;

export interface SessionEnd {
  readonly status: 'completed' | 'failed';
  readonly endReason: EndReason;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number;
  /** Begun seconds of the call; null when it never was one. */
  readonly durationS: number | null;
  readonly unknownSinceMs: null;
  /** What is owed: a call is settled by its length, the charge of a session that never was one is given back. */
  readonly moneyDue: 'settle' | 'give_back';
  /** Set once, by the change that resolves the dial. */
  readonly dialStatus?: DialStatus;
}

/** What `happening` makes of the session, or null when it changes nothing. The first end stands for good. */
export function transition(session: SessionSoFar, happening: Happening): SessionChange | null {
  switch (session.status) {
    case 'pending':
      return session.direction === 'outbound' ? fromDialing(happening) : fromPending(happening);
    case 'active':
      return fromActive(session, happening);
    case 'unknown':
      return fromUnknown(session, happening);
    case 'completed':
    case 'failed':
      return null;
  }
}

function fromPending(happening: Happening): SessionChange | null {
  switch (happening.type) {
    case 'joined':
      return { status: 'active', startedAtMs: happening.atMs, unknownSinceMs: null };
    case 'ended':
      return end(happening.endReason, happening.startedAtMs, happening.endedAtMs);
    case 'join_deadline_passed':
      return end('room_join_timeout', null, happening.atMs);
    case 'cancelled':
      return end('cancelled', null, happening.atMs);
    default:
      return null;
  }
}

/** As `fromPending`; whatever ends the waiting resolves the dial as well. */
function fromDialing(happening: Happening): SessionChange | null {
  switch (happening.type) {
    case 'dial_failed':
      return { ...end('dial_failed', null, happening.atMs), dialStatus: happening.dialStatus };
    case 'join_deadline_passed':
      // The carrier never told the outcome.
      return { ...end('dial_failed', null, happening.atMs), dialStatus: 'failed' };
    case 'cancelled':
      return { ...end('cancelled', null, happening.atMs), dialStatus: 'no_answer' };
    case 'ended': {
      const dialStatus = happening.startedAtMs === null ? 'failed' : 'answered';
      return { ...end(happening.endReason, happening.startedAtMs, happening.endedAtMs), dialStatus };
    }
    case 'joined':
      return { status: 'active', startedAtMs: happening.atMs, unknownSinceMs: null, dialStatus: 'answered' };
    default:
      return null;
  }
}

function fromActive(session: SessionSoFar, happening: Happening): SessionChange | null {
  switch (happening.type) {
    case 'worker_away':
      return { status: 'unknown', unknownSinceMs: happening.atMs };
    case 'ended':
      return end(happening.endReason, happening.startedAtMs ?? session.startedAtMs, happening.endedAtMs);
    case 'hung_up':
      return end('user_hangup', session.startedAtMs, happening.atMs);
    default:
      return null;
  }
}

function fromUnknown(session: SessionSoFar, happening: Happening): SessionChange | null {
  switch (happening.type) {
    case 'joined':
    case 'sign_of_life':
      return { status: 'active', startedAtMs: session.startedAtMs, unknownSinceMs: null };
    case 'given_up':
      // Nothing is known of the time after the worker was last heard.
      return end('internal_error', session.startedAtMs, session.unknownSinceMs ?? session.startedAtMs ?? 0);
    case 'ended':
    case 'hung_up':
      return fromActive(session, happening);
    default:
      return null;
  }
}

function end(endReason: EndReason, startedAtMs: number | null, endedAtMs: number): SessionEnd {
  const wasCall = startedAtMs !== null;
  return {
    status: END_REASONS[endReason].status,
    endReason,
    startedAtMs,
    endedAtMs,
    durationS: wasCall ? Math.max(0, Math.ceil((endedAtMs - startedAtMs) / 1000)) : null,
    unknownSinceMs: null,
    moneyDue: wasCall ? 'settle' : 'give_back',
  };
}

export function isEndReason(text: string): text is EndReason {
  return Object.hasOwn(END_REASONS, text);
}
