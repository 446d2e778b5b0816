import type { Metadata, Overrides } from '../../shared/conversation-request.ts';
import type { DynamicVariables } from '../../shared/dynamic-variables.ts';
import type { DialOutcome } from './carrier.ts';

/** What the request for a call says of its conversation. */
export interface Conversation {
  readonly overrides?: Overrides | null;
  readonly dynamic_variables?: DynamicVariables | null;
  readonly metadata?: Metadata | null;
}

export interface CallStart {
  readonly sessionId: string;
  /** The person who is called, E.164. */
  readonly callerNumber: string;
  /** The number the call is made from. */
  readonly dialedNumber: string;
  /** Without any news of the dial until then it counts as failed. */
  readonly dialDeadlineMs: number;
}

/** An agent that can hold the call. */
export interface PreparedCall {
  readonly maxDurationS: number;
  /** Throws 400 and 422 for what the agent doesn't take. */
  readonly refuseUnfit: (conversation: Conversation) => void;
  /** Records and charges. Throws `Failure` 402 and leaves nothing. */
  readonly start: (input: CallStart, conversation: Conversation) => Promise<void>;
}

/** Session records of outbound calls, as phone calls need them. Telling the same news again changes nothing. */
export interface CallSessions {
  readonly prepare: (
    agentId: string,
    workspaceId: string,
  ) => Promise<PreparedCall | 'agent_not_found' | 'agent_not_published'>;
  /** Takes back a start whose call was never made. */
  readonly undo: (sessionId: string) => Promise<void>;
  readonly answered: (sessionId: string, atMs: number) => Promise<unknown>;
  readonly dialFailed: (
    sessionId: string,
    outcome: Exclude<DialOutcome, 'answered'>,
    atMs: number,
  ) => Promise<unknown>;
  readonly hungUp: (sessionId: string, atMs: number) => Promise<unknown>;
  /** Null when there is no such session. */
  readonly statusOf: (sessionId: string) => Promise<string | null>;
}
