import type { AgentDoc, AgentStore } from './agent-store.ts';

/** Agents named in one answer; the total counts all. */
const MAX_NAMED = 1000;

/** Reads for neighbours: which agents refer to a tool or a knowledge source. Archived agents count as well. */
export function createAgentReferences(agents: AgentStore) {
  /** Null when the workspace has no such agent. */
  async function draftToolIds(agentId: string, workspaceId: string): Promise<readonly string[] | null> {
    return (await agents.find(agentId, workspaceId))?.config.tools.tool_ids ?? null;
  }

  /** How many drafts have each tool; those without any are left out. */
  async function countToolUsers(
    workspaceId: string,
    toolIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    const wanted = new Set(toolIds);
    if (wanted.size === 0) return counts;
    for (const { config } of await agents.findWithTools(workspaceId, toolIds)) {
      for (const id of new Set(config.tools.tool_ids)) {
        if (wanted.has(id)) counts.set(id, (counts.get(id) ?? 0) + 1);
      }
    }
    return counts;
  }

  const listToolUsers = async (workspaceId: string, toolId: string) =>
    toAgentList(await agents.findWithTools(workspaceId, [toolId]));

  /** For each draft with the tool: the ids of all its tools. */
  async function toolsBeside(workspaceId: string, toolId: string): Promise<readonly (readonly string[])[]> {
    return (await agents.findWithTools(workspaceId, [toolId])).map(({ config }) => config.tools.tool_ids);
  }

  /** Agents whose draft or live version refers to the source. */
  const listSourceUsers = async (workspaceId: string, sourceId: string) =>
    toAgentList(await agents.findWithSource(workspaceId, sourceId));

  return { draftToolIds, countToolUsers, listToolUsers, toolsBeside, listSourceUsers };
}

function toAgentList(found: readonly AgentDoc[]) {
  const agents = found.slice(0, MAX_NAMED).map(({ _id, name }) => ({ agent_id: _id, name }));
  return { agents, total: found.length };
}
