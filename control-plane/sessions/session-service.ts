import { Failure } from '../../shared/errors.ts';
import type { AnonymousCaller, Caller, KeyCaller } from '../http/route.ts';
import { refuseUnlessPublic } from './public-gate.ts';
import type { SessionAgent, SessionConfig } from './session-agent.ts';
import type { SessionItemStore } from './session-item-store.ts';
import { readSessionQuery } from './session-query.ts';
import { toSessionDetail, toSessionSummary } from './session-reply.ts';
import { refuseForbiddenFields, refuseInvalidRequest } from './session-request.ts';
import type {
  CreateSessionBody,
  PreviewBody,
  SessionDetail,
  SessionList,
  SessionListQuery,
  SessionToken,
} from './session-schema.ts';
import { createSessionStart, type SessionStartDeps } from './session-start.ts';
import type { SessionDoc } from './session-store.ts';
import type { SessionTransitions } from './session-transitions.ts';

export interface SessionServiceDeps extends SessionStartDeps {
  readonly items: SessionItemStore;
  readonly transitions: SessionTransitions;
  /** `workspaceId` null: any workspace. */
  readonly findAgent: (agentId: string, workspaceId: string | null) => Promise<SessionAgent | null>;
  readonly publishedConfig: (agentId: string) => Promise<SessionConfig | null>;
  readonly draftConfig: (agentId: string) => Promise<SessionConfig | null>;
  /** Hangs up on the worker; false when no worker holds the session. Throws `Failure` when it can't be reached. */
  readonly endOnWorker: (sessionId: string, endReason: string) => Promise<boolean>;
  /** Counts a hit in the fixed window that holds now; true while the count is at most `limit`. */
  readonly hit: (key: string, limit: number, windowMs: number) => Promise<boolean>;
}

const MINUTE_MS = 60_000;

/** Sessions as callers see them. Another team's session answers like a missing one: 404. */
export function createSessionService(deps: SessionServiceDeps) {
  const { sessions, items, transitions, clock, limits } = deps;
  const start = createSessionStart(deps);

  async function create(body: CreateSessionBody, caller: Caller, traceparent: string): Promise<SessionToken> {
    refuseInvalidRequest(body);
    const isAnonymous = caller.kind === 'anonymous';
    const agent = await getAgent(body.agent_id, isAnonymous ? null : caller.workspaceId);
    if (isAnonymous) await admitAnonymous(agent, caller);
    refuseForbiddenFields(body, agent.overridesAllowed, isAnonymous);
    const runnable = await deps.publishedConfig(agent.agentId);
    if (!runnable) throw new Failure('conflict', 'Agent has no published version');
    const source = isAnonymous ? 'public' : 'api_key';
    return start({ agent, runnable, body, source, traceparent }).catch((error: unknown) => {
      if (isAnonymous && error instanceof Failure && error.kind === 'out_of_credit') {
        throw new Failure('forbidden', 'Agent is unavailable', { cause: error });
      }
      throw error;
    });
  }

  /** A session of the draft, for whoever builds the agent: short, free of charge, not listed. */
  async function preview(
    agentId: string,
    body: PreviewBody,
    caller: KeyCaller,
    traceparent: string,
  ): Promise<SessionToken> {
    refuseInvalidRequest(body);
    const agent = await getAgent(agentId, caller.workspaceId);
    refuseForbiddenFields(body, agent.overridesAllowed, false);
    const runnable = await deps.draftConfig(agent.agentId);
    if (!runnable) throw new Failure('not_found', 'Agent not found');
    return start({ agent, runnable, body, source: 'dashboard', traceparent });
  }

  async function getAgent(agentId: string, workspaceId: string | null): Promise<SessionAgent> {
    const agent = await deps.findAgent(agentId, workspaceId);
    if (!agent) throw new Failure('not_found', 'Agent not found');
    return agent;
  }

  async function admitAnonymous(agent: SessionAgent, caller: AnonymousCaller): Promise<void> {
    refuseUnlessPublic(agent, caller.origin);
    // One address alone can't use up an agent's window: its own is counted first.
    const isAdmitted =
      (await deps.hit(`public-ip:${caller.clientIp}`, limits.publicPerMinutePerIp, MINUTE_MS)) &&
      (await deps.hit(`public-agent:${agent.agentId}`, limits.publicPerMinutePerAgent, MINUTE_MS));
    if (isAdmitted) return;
    const retryAfterS = Math.ceil((MINUTE_MS - (clock.nowMs() % MINUTE_MS)) / 1000);
    throw new Failure('rate_limited', 'Too many sessions, try again in a moment', { retryAfterS });
  }

  async function getSession(sessionId: string, caller: KeyCaller): Promise<SessionDoc> {
    const session = await sessions.find(sessionId, caller.workspaceId);
    if (!session) throw new Failure('not_found', 'Session not found');
    return session;
  }

  async function get(sessionId: string, caller: KeyCaller): Promise<SessionDetail> {
    const session = await getSession(sessionId, caller);
    return toSessionDetail(session, await items.listItems(sessionId));
  }

  async function list(query: SessionListQuery, caller: KeyCaller): Promise<SessionList> {
    const { rows, ...page } = await sessions.list(caller.workspaceId, readSessionQuery(query), query);
    return { sessions: rows.map(toSessionSummary), ...page };
  }

  /** Ended when this resolves; ending a session that has ended is no error. */
  async function end(sessionId: string, caller: KeyCaller): Promise<void> {
    const session = await getSession(sessionId, caller);
    if (session.status === 'pending') {
      const moved = await transitions.move(sessionId, { type: 'cancelled', atMs: clock.nowMs() });
      if (moved?.endReason === 'cancelled') {
        // The worker frees the slot at the join deadline at the latest.
        await deps.release(sessionId).catch(() => {});
      }
      // Somebody joined in between: hang up as below.
      if (moved?.status !== 'active' && moved?.status !== 'unknown') return;
    } else if (session.status === 'completed' || session.status === 'failed') return;
    const isHungUp = await deps.endOnWorker(sessionId, 'user_hangup');
    // While its worker is away the call may go on there: ending it is to be tried again.
    if (!isHungUp && session.status === 'unknown') {
      throw new Failure('upstream_failed', 'Agent gateway is unreachable');
    }
    await transitions.move(sessionId, { type: 'hung_up', atMs: clock.nowMs() });
  }

  async function getRecording(sessionId: string, caller: KeyCaller): Promise<never> {
    await getSession(sessionId, caller);
    throw new Failure('not_found', 'Recording not found');
  }

  /** What a page shows before it starts a session; the same gate, without the rate windows. */
  async function getWidget(agentId: string, caller: Caller): Promise<{ agent_name: string }> {
    const isAnonymous = caller.kind === 'anonymous';
    const agent = await getAgent(agentId, isAnonymous ? null : caller.workspaceId);
    if (isAnonymous) refuseUnlessPublic(agent, caller.origin);
    return { agent_name: agent.name };
  }

  return { create, preview, get, list, end, getRecording, getWidget };
}
export type SessionService = ReturnType<typeof createSessionService>;
