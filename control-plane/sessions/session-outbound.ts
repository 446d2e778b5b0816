import type { Metadata, Overrides } from '../../shared/conversation-request.ts';
import type { DynamicVariables } from '../../shared/dynamic-variables.ts';
import type { SessionAgent, SessionConfig } from './session-agent.ts';
import { refuseForbiddenFields, refuseInvalidRequest } from './session-request.ts';
import { chargeSession, newSession, type SessionStartDeps } from './session-start.ts';
import type { DialStatus, SessionStatus } from './session-state.ts';
import type { SessionTransitions } from './session-transitions.ts';

export interface OutboundSessionDeps extends Pick<SessionStartDeps, 'sessions' | 'wallet' | 'clock'> {
  readonly transitions: SessionTransitions;
  readonly findAgent: (agentId: string, workspaceId: string) => Promise<SessionAgent | null>;
  readonly publishedConfig: (agentId: string) => Promise<SessionConfig | null>;
  /** Price of a minute on the phone, taken up front. */
  readonly minuteMicros: number;
}

/** What the request for a call says of its conversation. */
interface Conversation {
  readonly overrides?: Overrides | null;
  readonly dynamic_variables?: DynamicVariables | null;
  readonly metadata?: Metadata | null;
}

interface CallStart {
  readonly sessionId: string;
  /** The person who is called, E.164. */
  readonly callerNumber: string;
  /** The number the call is made from. */
  readonly dialedNumber: string;
  /** Without any news of the dial until then it counts as failed. */
  readonly dialDeadlineMs: number;
}

/** Records of calls to people. They wait as `pending` while the phone rings and are billed from the answer on. */
export function createOutboundSessions(deps: OutboundSessionDeps) {
  const { sessions, transitions, wallet, clock } = deps;

  /** The agent's published version, ready for a call, or why there is none. */
  async function prepare(agentId: string, workspaceId: string) {
    const agent = await deps.findAgent(agentId, workspaceId);
    if (!agent) return 'agent_not_found';
    const runnable = await deps.publishedConfig(agent.agentId);
    if (!runnable) return 'agent_not_published';
    return {
      maxDurationS: runnable.config.conversation.max_duration_seconds,
      /** Throws 422 for what no agent takes, 400 for overrides that this agent doesn't allow. */
      refuseUnfit(conversation: Conversation): void {
        refuseInvalidRequest(conversation);
        refuseForbiddenFields(conversation, agent.overridesAllowed, false);
      },
      start: (input: CallStart, conversation: Conversation) => start(agent, runnable, input, conversation),
    };
  }

  /** Records and charges. Throws `Failure` 402 and leaves nothing. */
  async function start(
    agent: SessionAgent,
    runnable: SessionConfig,
    input: CallStart,
    conversation: Conversation,
  ): Promise<void> {
    const { sessionId, callerNumber, dialedNumber, dialDeadlineMs } = input;
    const request = { agent, runnable, body: conversation, source: 'phone', traceparent: '' } as const;
    const nowMs = clock.nowMs();
    const session = {
      ...newSession(request, nowMs, dialDeadlineMs - nowMs),
      _id: sessionId,
      direction: 'outbound' as const,
      callerNumber,
      dialedNumber,
    };
    await sessions.insert(session);
    await chargeSession(deps, session, deps.minuteMicros);
  }

  /** Takes a start back whose call was never made. What can't be undone now runs out at the dial deadline. */
  async function undo(sessionId: string): Promise<void> {
    await wallet.giveBack(sessionId);
    await sessions.remove(sessionId);
  }

  return {
    prepare,
    undo,
    answered: (sessionId: string, atMs: number) => transitions.move(sessionId, { type: 'joined', atMs }),
    dialFailed: (sessionId: string, dialStatus: Exclude<DialStatus, 'answered'>, atMs: number) =>
      transitions.move(sessionId, { type: 'dial_failed', dialStatus, atMs }),
    hungUp: (sessionId: string, atMs: number) => transitions.move(sessionId, { type: 'hung_up', atMs }),
    /** Null when there is no such session. */
    statusOf: async (sessionId: string): Promise<SessionStatus | null> =>
      (await sessions.findAnywhere(sessionId))?.status ?? null,
  };
}
