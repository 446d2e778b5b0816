import { Type } from 'typebox';
import { type AnyRoute, route } from '../http/route.ts';
import {
  AgentOfSessionPath,
  CreateSessionBody,
  PreviewBody,
  Recording,
  SessionDetail,
  SessionList,
  SessionListQuery,
  SessionPath,
  SessionToken,
  Widget,
} from './session-schema.ts';
import type { SessionService } from './session-service.ts';

const SESSIONS = '/v1/agent/sessions';
const SESSION = `${SESSIONS}/{session_id}`;
const AGENT = '/v1/agent/agents/{agent_id}';

/** The endpoints of sessions, with the two of agents that lead to one. */
export function sessionRoutes(sessions: SessionService): AnyRoute[] {
  return [...startRoutes(sessions), ...recordRoutes(sessions)];
}

function startRoutes(sessions: SessionService): AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: SESSIONS,
      access: 'api_key_or_public',
      summary: 'Start a session with a published agent',
      tag: 'sessions',
      description:
        'With an API key, any agent of the workspace may be used and the first minute is charged up front. Without one, the agent must be public and the request’s `Origin` among its `allowed_origins`. Connect to `rtc_url` with `token` before `expires_at`.',
      refusals: ['out_of_credit', 'forbidden', 'not_found', 'conflict', 'rate_limited', 'upstream_failed'],
      requestHeaders: { Origin: Type.String({ description: 'Of the page, for calls without a key.' }) },
      isCrossOrigin: true,
      body: CreateSessionBody,
      reply: { status: 201, schema: SessionToken },
      handle: ({ body, caller, traceparent }) => sessions.create(body, caller, traceparent),
    }),
    route({
      method: 'POST',
      path: `${AGENT}/preview`,
      access: 'api_key',
      summary: 'Start a short session with the draft, free of charge',
      tag: 'sessions',
      refusals: ['upstream_failed'],
      params: AgentOfSessionPath,
      body: PreviewBody,
      isBodyOptional: true,
      reply: { status: 201, schema: SessionToken },
      handle: ({ params, body, caller, traceparent }) =>
        sessions.preview(params.agent_id, body, caller, traceparent),
    }),
    route({
      method: 'GET',
      path: `${AGENT}/widget`,
      access: 'api_key_or_public',
      summary: 'What a page shows of a public agent',
      tag: 'agents',
      refusals: ['forbidden'],
      isCrossOrigin: true,
      params: AgentOfSessionPath,
      reply: { status: 200, schema: Widget },
      handle: ({ params, caller }) => sessions.getWidget(params.agent_id, caller),
    }),
  ];
}

function recordRoutes(sessions: SessionService): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: SESSIONS,
      access: 'api_key',
      summary: 'List sessions, newest first',
      tag: 'sessions',
      query: SessionListQuery,
      reply: { status: 200, schema: SessionList },
      handle: ({ query, caller }) => sessions.list(query, caller),
    }),
    route({
      method: 'GET',
      path: SESSION,
      access: 'api_key',
      summary: 'Read a session with its timeline',
      tag: 'sessions',
      refusals: ['upstream_failed'],
      params: SessionPath,
      reply: { status: 200, schema: SessionDetail },
      handle: ({ params, caller }) => sessions.get(params.session_id, caller),
    }),
    route({
      method: 'GET',
      path: `${SESSION}/recording`,
      access: 'api_key',
      summary: 'Read a session’s recording',
      tag: 'sessions',
      refusals: ['upstream_failed'],
      params: SessionPath,
      reply: { status: 200, schema: Recording },
      handle: ({ params, caller }) => sessions.getRecording(params.session_id, caller),
    }),
    route({
      method: 'POST',
      path: `${SESSION}/end`,
      access: 'api_key',
      summary: 'Hang up a session',
      tag: 'sessions',
      refusals: ['upstream_failed'],
      params: SessionPath,
      reply: { status: 204 },
      handle: async ({ params, caller }) => {
        await sessions.end(params.session_id, caller);
        return undefined;
      },
    }),
  ];
}
