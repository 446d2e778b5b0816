import { type Static, Type } from 'typebox';

/** What the agent is doing, as the sticky participant attribute `lk.agent.state` says. */
export type AgentState = 'initializing' | 'idle' | 'listening' | 'thinking' | 'speaking';

export type SessionEndedReason = 'user_hangup' | 'agent_hangup' | 'conversation_timeout' | 'escalated';

/** Agent to client, topic `agent-event`: one UTF-8 JSON object per reliable data packet. */
export type AgentEvent =
  | {
      readonly type: 'client_tool.call';
      readonly callId: string;
      readonly toolName: string;
      readonly params: object;
      readonly expectsResponse: boolean;
    }
  | {
      readonly type: 'tool.started';
      readonly callId: string;
      readonly toolName: string;
      readonly toolSource: string;
      readonly nodeId: string;
      readonly input: string;
      readonly inputTruncated?: boolean;
    }
  | {
      readonly type: 'tool.completed';
      readonly callId: string;
      readonly toolName: string;
      readonly toolSource: string;
      readonly nodeId: string;
      readonly output: string;
      readonly outputTruncated?: boolean;
    }
  | {
      readonly type: 'tool.failed';
      readonly callId: string;
      readonly toolName: string;
      readonly toolSource: string;
      readonly nodeId: string;
      readonly error: string;
    }
  | { readonly type: 'session.ended'; readonly reason: SessionEndedReason }
  | { readonly type: 'error'; readonly code: 'provider_error' | 'internal_error' };

/** Client to agent, topic `client-event`. Unknown types and malformed JSON are ignored by the agent. */
export const ClientEvent = Type.Union([
  Type.Object({
    type: Type.Literal('user.message'),
    text: Type.String({ minLength: 1, maxLength: 10_000 }),
    audio: Type.Optional(Type.Boolean()),
  }),
  Type.Object({ type: Type.Literal('user.activity') }),
  Type.Object({ type: Type.Literal('user.interrupt') }),
  Type.Object({ type: Type.Literal('user.hangup') }),
  Type.Object({
    type: Type.Literal('client_tool.result'),
    callId: Type.String({ maxLength: 256 }),
    result: Type.Optional(Type.Unknown()),
    isError: Type.Optional(Type.Boolean()),
  }),
]);
export type ClientEvent = Static<typeof ClientEvent>;

export const AGENT_EVENT_TOPIC = 'agent-event';
export const CLIENT_EVENT_TOPIC = 'client-event';
export const TRANSCRIPTION_TOPIC = 'lk.transcription';
export const AGENT_STATE_ATTRIBUTE = 'lk.agent.state';
