import { type DialStatus, END_REASONS, type SessionChange, type SessionEnd } from './session-state.ts';

/** Where a session's events go. Pinned when it starts; empty for previews. */
export interface SessionWebhook {
  readonly url: string;
  /** Signing key in stored form. */
  readonly secret: string | null;
}

/** An analysis that has come to an end. */
export interface SettledAnalysis {
  readonly status: 'completed' | 'skipped' | 'error';
  readonly summary: string | null;
  readonly data: readonly {
    readonly name: string;
    readonly type: string;
    readonly value: string | number | boolean | null;
    readonly rationale: string;
  }[];
  readonly criteriaResults: readonly {
    readonly name: string;
    readonly result: 'success' | 'failure' | 'unknown';
    readonly rationale: string;
  }[];
  /** The cause when the status is `error`. */
  readonly error: string | null;
}

/** Post-call analysis as the record holds it. */
export interface SessionAnalysis extends Omit<SettledAnalysis, 'status'> {
  readonly status: 'queued' | 'running' | SettledAnalysis['status'];
  /** Counts from 1; each run settles once. */
  readonly run: number;
  /** How often the present run was begun. */
  readonly tries: number;
  /** When a run last settled; grows with each. */
  readonly finishedAtMs: number | null;
}

/** An event of the session with the session as it was then, waiting in the record to be sent. */
export interface SessionNotice {
  /** 1 dial, 2 end, then one per analysis. */
  readonly seq: number;
  readonly event: 'phone_call.dial_finished' | 'call.ended' | 'call.analyzed';
  readonly atMs: number;
  readonly status: string;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly durationS: number | null;
  readonly dialStatus: DialStatus | null;
  readonly endedReason: 'hangup' | 'error' | null;
  readonly analysis: (SettledAnalysis & { readonly finishedAtMs: number }) | null;
}

/** What a session's events are made of. */
interface NoticedSession {
  readonly source: string;
  readonly status: string;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly durationS: number | null;
  readonly dialStatus?: DialStatus | null;
  readonly webhooks?: readonly SessionWebhook[];
}

/** What is written together with a change. */
export interface Aftermath {
  readonly notices: readonly SessionNotice[];
  /** Set by the end of a real call: what was said is to be analysed. */
  readonly analysis: SessionAnalysis | null;
}

const DIAL_SEQ = 1;
const END_SEQ = 2;

/**
 * What a change of a session sets off. Previews set off nothing, and neither does the end of a session that nobody
 * joined, which is not a call.
 */
export function aftermathOf(session: NoticedSession, change: SessionChange, atMs: number): Aftermath {
  if (session.source === 'dashboard') return { notices: [], analysis: null };
  const isCallOver = isEnd(change) && change.startedAtMs !== null;
  const notices = [
    ...(change.status !== 'unknown' && change.dialStatus
      ? [dialNotice(change, change.dialStatus, atMs)]
      : []),
    ...(isCallOver ? [endNotice(session, change, atMs)] : []),
  ];
  return {
    notices: hasWebhooks(session) ? notices : [],
    analysis: isCallOver ? queuedAnalysis(1, null) : null,
  };
}

/** `call.analyzed` of one run. */
export function analyzedNotice(
  session: NoticedSession,
  run: number,
  analysis: NonNullable<SessionNotice['analysis']>,
  atMs: number,
): SessionNotice {
  const { status, startedAtMs, endedAtMs, durationS } = session;
  const dialStatus = session.dialStatus ?? null;
  return {
    seq: END_SEQ + run,
    event: 'call.analyzed',
    atMs,
    status,
    startedAtMs,
    endedAtMs,
    durationS,
    dialStatus,
    endedReason: null,
    analysis,
  };
}

/** An analysis that waits for its run. */
export function queuedAnalysis(run: number, finishedAtMs: number | null): SessionAnalysis {
  return {
    status: 'queued',
    run,
    tries: 0,
    summary: null,
    data: [],
    criteriaResults: [],
    error: null,
    finishedAtMs,
  };
}

/** The part of an update that puts events into a record's outbox. */
export function addToOutbox(notices: readonly SessionNotice[], nowMs: number) {
  if (notices.length === 0) return { $set: {} };
  return { $set: { outboxDueAtMs: nowMs, outboxToken: null }, $push: { outbox: { $each: notices } } };
}

export function hasWebhooks({ webhooks }: Pick<NoticedSession, 'webhooks'>): boolean {
  return webhooks !== undefined && webhooks.length > 0;
}

function isEnd(change: SessionChange): change is SessionEnd {
  return change.status === 'completed' || change.status === 'failed';
}

/** Times of the conversation are not known while it goes on. */
function dialNotice(change: SessionChange, dialStatus: DialStatus, atMs: number): SessionNotice {
  const isUnanswered = dialStatus !== 'answered';
  return {
    seq: DIAL_SEQ,
    event: 'phone_call.dial_finished',
    atMs,
    status: change.status,
    startedAtMs: null,
    endedAtMs: isUnanswered && isEnd(change) ? change.endedAtMs : null,
    durationS: null,
    dialStatus,
    endedReason: null,
    analysis: null,
  };
}

function endNotice(session: NoticedSession, change: SessionEnd, atMs: number): SessionNotice {
  const { status, endReason, startedAtMs, endedAtMs, durationS } = change;
  return {
    seq: END_SEQ,
    event: 'call.ended',
    atMs,
    status,
    startedAtMs,
    endedAtMs,
    durationS,
    dialStatus: change.dialStatus ?? session.dialStatus ?? null,
    endedReason: END_REASONS[endReason].endedReason ?? (status === 'failed' ? 'error' : 'hangup'),
    analysis: null,
  };
}
