import { type TSchema, Type } from 'typebox';
import { pageQueryFields, pageReplyFields } from '../http/pagination.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { AgentConfigPatch } from './agent-config-patch.ts';
import {
  Agent,
  AgentPath,
  ConfigDocument,
  CreateAgentBody,
  PublishBody,
  UpdateAgentBody,
  VersionDetail,
  VersionPath,
  VersionSummary,
} from './agent-schema.ts';
import type { AgentService } from './agent-service.ts';

const AGENTS = '/v1/agent/agents';
const AGENT = `${AGENTS}/{agent_id}`;

const AgentListQuery = Type.Object({
  search: Type.Optional(Type.String()),
  include_archived: Type.Optional(Type.Boolean({ default: false })),
  publication_state: Type.Optional(Type.Enum(['all', 'live', 'draft'], { default: 'all' })),
  ...pageQueryFields,
});

/** The endpoints of agents, their configuration and their versions. */
export function agentRoutes(agents: AgentService): AnyRoute[] {
  return [...recordRoutes(agents), ...configRoutes(agents), ...versionRoutes(agents)];
}

function recordRoutes(agents: AgentService): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: AGENTS,
      access: 'api_key',
      summary: 'List agents, newest first',
      tag: 'agents',
      query: AgentListQuery,
      reply: ok(Type.Object({ agents: Type.Array(Agent), ...pageReplyFields })),
      handle: ({ query, caller }) => {
        const filter = {
          search: query.search ?? '',
          includeArchived: query.include_archived ?? false,
          publicationState: query.publication_state ?? 'all',
        };
        return agents.list(filter, query, caller);
      },
    }),
    route({
      method: 'POST',
      path: AGENTS,
      access: 'api_key',
      summary: 'Create an agent as a draft',
      tag: 'agents',
      refusals: ['forbidden'],
      body: CreateAgentBody,
      reply: { status: 201, schema: Agent },
      handle: ({ body, caller }) => agents.create(body, caller),
    }),
    route({
      method: 'GET',
      path: AGENT,
      access: 'api_key',
      summary: 'Read an agent',
      tag: 'agents',
      params: AgentPath,
      reply: ok(Agent),
      handle: ({ params, caller }) => agents.get(params.agent_id, caller),
    }),
    route({
      method: 'PATCH',
      path: AGENT,
      access: 'api_key',
      summary: 'Change an agent; fields left out keep their value',
      tag: 'agents',
      params: AgentPath,
      body: UpdateAgentBody,
      reply: ok(Agent),
      handle: ({ params, body, caller }) => agents.update(params.agent_id, body, caller),
    }),
    route({
      method: 'DELETE',
      path: AGENT,
      access: 'api_key',
      summary: 'Delete an agent with its draft and versions; session records stay',
      tag: 'agents',
      params: AgentPath,
      reply: { status: 204 },
      handle: async ({ params, caller }) => {
        await agents.remove(params.agent_id, caller);
        return undefined;
      },
    }),
  ];
}

function configRoutes(agents: AgentService): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: `${AGENT}/config`,
      access: 'api_key',
      summary: 'Read the draft configuration',
      tag: 'agents',
      params: AgentPath,
      reply: ok(ConfigDocument),
      handle: ({ params, caller }) => agents.getConfig(params.agent_id, caller),
    }),
    route({
      method: 'PATCH',
      path: `${AGENT}/config`,
      access: 'api_key',
      summary: 'Change the draft configuration; objects are merged, lists replaced',
      tag: 'agents',
      params: AgentPath,
      body: AgentConfigPatch,
      reply: ok(ConfigDocument),
      handle: ({ params, body, caller }) => agents.patchConfig(params.agent_id, body, caller),
    }),
  ];
}

function versionRoutes(agents: AgentService): AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: `${AGENT}/publish`,
      access: 'api_key',
      summary: 'Publish the draft as the next version; an unchanged draft answers the live one',
      tag: 'agents',
      refusals: ['conflict'],
      params: AgentPath,
      body: PublishBody,
      isBodyOptional: true,
      reply: ok(VersionSummary),
      handle: ({ params, body, caller }) => agents.publish(params.agent_id, body, caller),
    }),
    route({
      method: 'GET',
      path: `${AGENT}/versions`,
      access: 'api_key',
      summary: 'List published versions, newest first',
      tag: 'agents',
      params: AgentPath,
      query: Type.Object(pageQueryFields),
      reply: ok(Type.Object({ versions: Type.Array(VersionSummary), ...pageReplyFields })),
      handle: ({ params, query, caller }) => agents.listVersions(params.agent_id, query, caller),
    }),
    route({
      method: 'GET',
      path: `${AGENT}/versions/{version_number}`,
      access: 'api_key',
      summary: 'Read a published version with its frozen configuration',
      tag: 'agents',
      params: VersionPath,
      reply: ok(VersionDetail),
      handle: ({ params, caller }) => agents.getVersion(params.agent_id, params.version_number, caller),
    }),
  ];
}

function ok<S extends TSchema>(schema: S) {
  return { status: 200, schema } as const;
}
