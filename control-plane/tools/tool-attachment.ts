import type { ToolDefinition } from '../../shared/tool-definition.ts';
import { toToolDefinition } from './tool-reply.ts';
import type { ToolSecrets } from './tool-secrets.ts';
import type { ToolDoc, ToolStore } from './tool-store.ts';

/** What agents ask of tools: which exist, which go together, and copies to freeze and to run. */
export function createToolAttachment({
  tools,
  secrets,
}: {
  readonly tools: ToolStore;
  readonly secrets: ToolSecrets;
}) {
  /** In the order of `ids`, each once; those that are gone are left out. */
  async function find(workspaceId: string, ids: readonly string[]): Promise<ToolDoc[]> {
    const unique = [...new Set(ids)];
    const found = new Map((await tools.findAll(unique, workspaceId)).map((tool) => [tool._id, tool]));
    return unique.flatMap((id) => found.get(id) ?? []);
  }

  /** Those of `ids` that aren't tools of the workspace. */
  async function unknown(workspaceId: string, ids: readonly string[]): Promise<readonly string[]> {
    const known = new Set((await find(workspaceId, ids)).map(({ _id }) => _id));
    return ids.filter((id) => !known.has(id));
  }

  /** A name that two client tools among `ids` share, or null. */
  async function repeatedClientName(workspaceId: string, ids: readonly string[]): Promise<string | null> {
    const clients = (await find(workspaceId, ids)).filter(({ content }) => content.tool_type === 'client');
    const names = clients.map(({ content }) => content.name);
    return names.find((name, index) => names.indexOf(name) < index) ?? null;
  }

  /** Copies that later changes of the tools don't reach; credentials in stored form. */
  async function copies(workspaceId: string, ids: readonly string[]): Promise<ToolDefinition[]> {
    return (await find(workspaceId, ids)).map(toToolDefinition);
  }

  return { unknown, repeatedClientName, copies, open: secrets.open };
}
export type ToolAttachment = ReturnType<typeof createToolAttachment>;
