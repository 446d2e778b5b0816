import { Failure } from '../../shared/errors.ts';
import type { SessionSpec } from '../../shared/generated/parley/v1/worker_link.ts';
import { newSessionId } from '../../shared/ids.ts';
import type { JoinGrant } from '../../shared/join-token.ts';
import type { KnowledgePin } from '../../shared/knowledge-pin.ts';
import { type Clock, toIso } from '../../shared/time.ts';
import { CoordinationUnavailable } from '../coordination/coordination.ts';
import type { SessionAgent, SessionConfig, SessionKnowledge } from './session-agent.ts';
import { readVariables } from './session-request.ts';
import type { PreviewBody, SessionToken } from './session-schema.ts';
import { buildSessionSpec, chooseTimezone } from './session-spec.ts';
import type { SessionDoc, SessionSource, SessionStore } from './session-store.ts';
import type { SessionWallet } from './session-transitions.ts';

export interface SessionStartDeps {
  readonly sessions: SessionStore;
  readonly wallet: Pick<SessionWallet, 'chargeUpFront' | 'giveBack'>;
  /** Reserves a slot on a worker. Throws `Failure` upstream_failed when none takes it. */
  readonly place: (spec: SessionSpec) => Promise<{ readonly workerId: string; readonly rtcUrl: string }>;
  /** Frees the slot of a session that nobody will join. */
  readonly release: (sessionId: string) => Promise<unknown>;
  readonly signJoinToken: (grant: JoinGrant, expiresAtMs: number) => Promise<string>;
  /** Text of the pinned revisions: whole while it is short, else in passages to search. */
  readonly knowledgeFor: (workspaceId: string, pins: readonly KnowledgePin[]) => Promise<SessionKnowledge>;
  readonly clock: Clock;
  readonly limits: SessionLimits;
}

export interface SessionLimits {
  /** From creation to the first join, with a key. */
  readonly joinWindowMs: number;
  /** The same for anonymous sessions. */
  readonly publicJoinWindowMs: number;
  /** How long a lost transport may take to come back. */
  readonly reconnectWindowMs: number;
  readonly previewMaxDurationS: number;
  /** Taken up front: the price of one minute. */
  readonly upFrontMicros: number;
  readonly publicPerMinutePerIp: number;
  readonly publicPerMinutePerAgent: number;
}

export interface StartInput {
  readonly agent: SessionAgent;
  readonly runnable: SessionConfig;
  readonly body: PreviewBody & { readonly name?: string | null };
  readonly source: SessionSource;
  readonly traceparent: string;
}

/** The identity callers join with; a session has one caller. */
const CALLER_IDENTITY = 'caller';

/**
 * Starts checked sessions. The record is written first, so that whatever happens later, a crash included, the sweeper
 * finds it and gives the charge back; a start that fails takes its record away again.
 */
export function createSessionStart(deps: SessionStartDeps) {
  const { sessions, wallet, clock, limits } = deps;

  return async function start(input: StartInput): Promise<SessionToken> {
    const joinWindowMs = input.source === 'public' ? limits.publicJoinWindowMs : limits.joinWindowMs;
    const session = newSession(input, clock.nowMs(), joinWindowMs);
    const sessionId = session._id;
    const spec = await specOf(session, input);
    await sessions.insert(session);
    await chargeSession(deps, session, limits.upFrontMicros);
    let isPlaced = false;
    try {
      const { workerId, rtcUrl } = await place(spec);
      isPlaced = true;
      const expiresAtMs = session.joinDeadlineMs + spec.maxDurationS * 1000 + limits.reconnectWindowMs;
      const grant = { sessionId, workerId, identity: CALLER_IDENTITY, name: '' };
      return {
        session_id: sessionId,
        expires_at: toIso(session.joinDeadlineMs),
        max_duration_seconds: spec.maxDurationS,
        transport: 'rtc',
        rtc_url: rtcUrl,
        token: await deps.signJoinToken(grant, expiresAtMs),
      };
    } catch (error) {
      await undo(session, isPlaced);
      throw error;
    }
  };

  async function specOf(session: SessionDoc, { agent, runnable, body, traceparent }: StartInput) {
    const { config, tools, knowledge } = runnable;
    const longestS = config.conversation.max_duration_seconds;
    return buildSessionSpec({
      sessionId: session._id,
      workspaceId: agent.workspaceId,
      agentId: agent.agentId,
      agentName: agent.name,
      config,
      tools,
      knowledge:
        knowledge.length > 0
          ? await deps.knowledgeFor(agent.workspaceId, knowledge)
          : { inlineText: '', chunks: [] },
      language: body.language,
      overrides: body.overrides ?? {},
      variables: readVariables(body.dynamic_variables),
      channel: 'web_voice',
      callerNumber: null,
      dialedNumber: null,
      timezone: session.timezone,
      worldContext: body.world_context ?? true,
      toolEvents: body.tool_events ?? true,
      recordAudio: body.record_audio ?? null,
      endUserId: session.endUserId,
      source: session.source,
      createdAtMs: session.createdAtMs,
      joinDeadlineMs: session.joinDeadlineMs,
      maxDurationS: isPreview(session) ? Math.min(longestS, limits.previewMaxDurationS) : longestS,
      reconnectWindowMs: limits.reconnectWindowMs,
      traceparent,
    });
  }

  async function place(spec: SessionSpec) {
    try {
      return await deps.place(spec);
    } catch (cause) {
      if (cause instanceof Failure || cause instanceof CoordinationUnavailable) throw cause;
      throw new Failure('upstream_failed', 'Agent gateway is unreachable', { cause });
    }
  }

  /** Leaves nothing of a start that failed. What can't be undone now stays on the record for the sweeper. */
  async function undo(session: SessionDoc, isPlaced: boolean): Promise<void> {
    if (isPlaced) await deps.release(session._id).catch(() => {});
    try {
      if (session.isBilled) await wallet.giveBack(session._id);
      await sessions.remove(session._id);
    } catch {
      // The record runs out at its join deadline, and the charge is given back then.
    }
  }
}

/** Charges for a recorded session up front. Throws `Failure` 402, and the record is gone then. */
export async function chargeSession(
  deps: Pick<SessionStartDeps, 'sessions' | 'wallet'>,
  session: SessionDoc,
  amountMicros: number,
): Promise<void> {
  if (!session.isBilled) return;
  try {
    await deps.wallet.chargeUpFront(session.workspaceId, amountMicros, session._id);
  } catch (error) {
    // After a refusal nothing was taken. After anything else that isn't known, and the record must stay to tell.
    if (error instanceof Failure) await deps.sessions.remove(session._id);
    throw error;
  }
}

function isPreview(session: SessionDoc): boolean {
  return session.source === 'dashboard';
}

/** The record of a session that begins. */
export function newSession(input: StartInput, nowMs: number, joinWindowMs: number): SessionDoc {
  const { agent, runnable, body, source } = input;
  return {
    _id: newSessionId(nowMs),
    workspaceId: agent.workspaceId,
    agentId: agent.agentId,
    agentName: agent.name,
    agentVersion: runnable.version,
    configHash: runnable.configHash,
    name: body.name ?? null,
    status: 'pending',
    endReason: null,
    source,
    direction: 'inbound',
    callerNumber: null,
    dialedNumber: null,
    dialStatus: null,
    timezone: chooseTimezone(body, runnable.config),
    createdAtMs: nowMs,
    joinDeadlineMs: nowMs + joinWindowMs,
    startedAtMs: null,
    endedAtMs: null,
    durationS: null,
    endUserId: body.end_user_id ?? null,
    metadataJson: JSON.stringify(body.metadata ?? {}),
    isBilled: source !== 'dashboard',
    workerId: null,
    unknownSinceMs: null,
    moneyDue: null,
    logBytes: 0,
    webhooks: source === 'dashboard' ? [] : (runnable.webhooks ?? []),
    outbox: [],
    outboxDueAtMs: null,
    outboxToken: null,
    analysis: null,
    analysisDueAtMs: null,
  };
}
