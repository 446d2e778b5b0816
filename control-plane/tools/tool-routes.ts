import { BACKGROUND_TOOL_TIMEOUT_MAX_S } from '../../shared/tool-definition.ts';
import { type AnyRoute, route } from '../http/route.ts';
import {
  CreateToolBody,
  TestToolBody,
  Tool,
  ToolAgents,
  ToolList,
  ToolListQuery,
  ToolPath,
  ToolTestResult,
  UpdateToolBody,
} from './tool-schema.ts';
import type { ToolService } from './tool-service.ts';

const TOOLS = '/v1/agent/tools';
const TOOL = `${TOOLS}/{tool_id}`;
/** A test call may take as long as the tool's own time limit; its answer still has to be written. */
const TEST_DEADLINE_MS = (BACKGROUND_TOOL_TIMEOUT_MAX_S + 5) * 1000;

/** The endpoints of tools. */
export function toolRoutes(tools: ToolService): AnyRoute[] {
  return [...recordRoutes(tools), ...useRoutes(tools)];
}

function recordRoutes(tools: ToolService): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: TOOLS,
      access: 'api_key',
      summary: 'List tools, newest first',
      tag: 'tools',
      refusals: ['not_found'],
      query: ToolListQuery,
      reply: { status: 200, schema: ToolList },
      handle: ({ query, caller }) => tools.list(query, caller),
    }),
    route({
      method: 'POST',
      path: TOOLS,
      access: 'api_key',
      summary: 'Create a tool; it is attached to no agent yet',
      tag: 'tools',
      refusals: ['forbidden'],
      body: CreateToolBody,
      reply: { status: 201, schema: Tool },
      handle: ({ body, caller }) => tools.create(body, caller),
    }),
    route({
      method: 'GET',
      path: TOOL,
      access: 'api_key',
      summary: 'Read a tool',
      tag: 'tools',
      params: ToolPath,
      reply: { status: 200, schema: Tool },
      handle: ({ params, caller }) => tools.get(params.tool_id, caller),
    }),
    route({
      method: 'PATCH',
      path: TOOL,
      access: 'api_key',
      summary: 'Change a tool in every draft that has it; published versions keep their copy',
      tag: 'tools',
      params: ToolPath,
      body: UpdateToolBody,
      reply: { status: 200, schema: Tool },
      handle: ({ params, body, caller }) => tools.update(params.tool_id, body, caller),
    }),
    route({
      method: 'DELETE',
      path: TOOL,
      access: 'api_key',
      summary: 'Delete a tool that no draft has',
      tag: 'tools',
      refusals: ['conflict'],
      params: ToolPath,
      reply: { status: 204 },
      handle: async ({ params, caller }) => {
        await tools.remove(params.tool_id, caller);
        return undefined;
      },
    }),
  ];
}

function useRoutes(tools: ToolService): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: `${TOOL}/agents`,
      access: 'api_key',
      summary: 'List the agents whose draft has the tool',
      tag: 'tools',
      params: ToolPath,
      reply: { status: 200, schema: ToolAgents },
      handle: ({ params, caller }) => tools.listAgents(params.tool_id, caller),
    }),
    route({
      method: 'POST',
      path: `${TOOL}/test`,
      access: 'api_key',
      summary: 'Call a webhook tool once; a call that fails is answered with 200 as well',
      tag: 'tools',
      params: ToolPath,
      body: TestToolBody,
      isBodyOptional: true,
      deadlineMs: TEST_DEADLINE_MS,
      reply: { status: 200, schema: ToolTestResult },
      handle: ({ params, body, caller, signal }) => tools.test(params.tool_id, body, caller, signal),
    }),
  ];
}
