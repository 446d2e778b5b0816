import { Failure } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { OutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import type { Clock } from '../../shared/time.ts';
import { requireBetaAccess } from '../http/beta-access.ts';
import type { KeyCaller } from '../http/route.ts';
import { completeToolContent } from './tool-content.ts';
import { toTool, toToolDefinition, toToolSummary } from './tool-reply.ts';
import type { CreateToolBody, TestToolBody, Tool, ToolListQuery, UpdateToolBody } from './tool-schema.ts';
import type { ToolSecrets } from './tool-secrets.ts';
import type { ToolDoc, ToolStore } from './tool-store.ts';
import { createToolTestCall } from './tool-test-call.ts';

/** What tools need to know of the agents that have them in their draft. */
export interface ToolUsers {
  /** Null when the workspace has no such agent. */
  readonly draftToolIds: (agentId: string, workspaceId: string) => Promise<readonly string[] | null>;
  /** How many drafts have each tool; those without any are left out. */
  readonly countToolUsers: (
    workspaceId: string,
    toolIds: readonly string[],
  ) => Promise<ReadonlyMap<string, number>>;
  readonly listToolUsers: (
    workspaceId: string,
    toolId: string,
  ) => Promise<{ readonly agents: { agent_id: string; name: string }[]; readonly total: number }>;
  /** For each draft with the tool: the ids of all its tools. */
  readonly toolsBeside: (workspaceId: string, toolId: string) => Promise<readonly (readonly string[])[]>;
}

export interface ToolServiceDeps {
  readonly tools: ToolStore;
  readonly secrets: ToolSecrets;
  readonly users: ToolUsers;
  readonly outgoing: Pick<OutgoingClient, 'request' | 'checkUrlSyntax'>;
  readonly clock: Clock;
}

/** Tries of one change against others of the same tool at the same time. */
const MAX_UPDATE_TRIES = 50;

/** Tools of a workspace, shared by its agents. Another team's tool answers like a missing one: 404. */
export function createToolService(deps: ToolServiceDeps) {
  const { tools, secrets, users, outgoing, clock } = deps;
  const testCall = createToolTestCall(deps);

  async function find(toolId: string, caller: KeyCaller): Promise<ToolDoc> {
    const tool = await tools.find(toolId, caller.workspaceId);
    if (!tool) throw new Failure('not_found', 'Tool not found');
    return tool;
  }

  async function usedBy(tool: ToolDoc): Promise<number> {
    return (await users.countToolUsers(tool.workspaceId, [tool._id])).get(tool._id) ?? 0;
  }

  async function create(body: CreateToolBody, caller: KeyCaller): Promise<Tool> {
    requireBetaAccess(caller);
    const content = completeToolContent(body, outgoing.checkUrlSyntax);
    const toolId = newId();
    const nowMs = clock.nowMs();
    const tool: ToolDoc = {
      _id: toolId,
      workspaceId: caller.workspaceId,
      content: { ...content, headers: secrets.seal(toolId, content.headers, []) },
      revision: 1,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await tools.insert(tool);
    return toTool(tool, 0);
  }

  async function list(query: ToolListQuery, caller: KeyCaller) {
    const { workspaceId } = caller;
    const ids = query.agent_id === undefined ? null : await users.draftToolIds(query.agent_id, workspaceId);
    if (query.agent_id !== undefined && ids === null) throw new Failure('not_found', 'Agent not found');
    const { rows, ...page } = await tools.list(workspaceId, { search: query.search ?? '', ids }, query);
    const counts = await users.countToolUsers(
      workspaceId,
      rows.map(({ _id }) => _id),
    );
    return { tools: rows.map((tool) => toToolSummary(tool, counts.get(tool._id) ?? 0)), ...page };
  }

  async function get(toolId: string, caller: KeyCaller): Promise<Tool> {
    const tool = await find(toolId, caller);
    return toTool(tool, await usedBy(tool));
  }

  /** Parallel changes lose none: each is applied to the tool that the others left. */
  async function update(toolId: string, body: UpdateToolBody, caller: KeyCaller): Promise<Tool> {
    for (let tries = 0; tries < MAX_UPDATE_TRIES; tries++) {
      const tool = await find(toolId, caller);
      const stored = tool.content;
      // An address that was allowed when it was stored doesn't stand in the way of other changes.
      const checkUrl = body.url === undefined ? () => {} : outgoing.checkUrlSyntax;
      const changed = completeToolContent({ ...stored, headers: [], ...body }, checkUrl);
      const headers = body.headers ? secrets.seal(toolId, changed.headers, stored.headers) : stored.headers;
      if (changed.name !== stored.name) await refuseTakenName(tool, changed.name);
      const updated = await tools.update(toolId, tool.revision, { ...changed, headers }, clock.nowMs());
      if (updated) return toTool(updated, await usedBy(updated));
    }
    throw new Failure('unavailable', 'Tool is being changed by too many requests', { retryAfterS: 1 });
  }

  /** A caller's app tells client tools apart by their name: it is unique within every agent. */
  async function refuseTakenName(tool: ToolDoc, name: string): Promise<void> {
    if (tool.content.tool_type !== 'client') return;
    const beside = new Set((await users.toolsBeside(tool.workspaceId, tool._id)).flat());
    beside.delete(tool._id);
    const others = await tools.findAll([...beside], tool.workspaceId);
    if (others.some(({ content }) => content.tool_type === 'client' && content.name === name)) {
      throw new Failure('bad_request', 'An agent with this tool has another client tool of that name');
    }
  }

  async function remove(toolId: string, caller: KeyCaller): Promise<void> {
    const count = await usedBy(await find(toolId, caller));
    if (count > 0) {
      throw new Failure('conflict', `Tool is attached to ${count} agent(s); detach it before deleting it`);
    }
    if (!(await tools.remove(toolId, caller.workspaceId))) throw new Failure('not_found', 'Tool not found');
  }

  async function listAgents(toolId: string, caller: KeyCaller) {
    const tool = await find(toolId, caller);
    return users.listToolUsers(tool.workspaceId, toolId);
  }

  async function test(toolId: string, body: TestToolBody, caller: KeyCaller, signal: AbortSignal) {
    const tool = secrets.open(toToolDefinition(await find(toolId, caller)));
    return testCall(tool, body.arguments ?? {}, signal);
  }

  return { create, list, get, update, remove, listAgents, test };
}
export type ToolService = ReturnType<typeof createToolService>;
