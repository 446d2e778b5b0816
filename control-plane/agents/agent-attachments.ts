import type { AgentConfig } from '../../shared/agent-config.ts';
import { Failure } from '../../shared/errors.ts';
import type { KnowledgePin } from '../../shared/knowledge-pin.ts';
import type { ToolDefinition } from '../../shared/tool-definition.ts';
import type { AgentVersionDoc } from './agent-version-store.ts';

/** Together, as JSON: a session is handed all of them in one message. */
const TOOLS_MAX_BYTES = 4 * 1024 * 1024;

/** What a configuration names and doesn't hold itself. A version keeps its own, frozen. */
export interface Attachments {
  /** Credentials in stored form. */
  readonly tools: readonly ToolDefinition[];
  readonly knowledge: readonly KnowledgePin[];
}

/** Where a draft's attachments come from: the tools as they are now, the newest revision of each source. */
export interface AttachmentSource {
  readonly toolCopies: (workspaceId: string, ids: readonly string[]) => Promise<readonly ToolDefinition[]>;
  readonly newestRevisions: (workspaceId: string, ids: readonly string[]) => Promise<readonly KnowledgePin[]>;
}

export type ReadAttachments = (workspaceId: string, config: AgentConfig) => Promise<Attachments>;

export function createReadAttachments(source: AttachmentSource): ReadAttachments {
  return async (workspaceId, config) => {
    const toolIds = config.tools.tool_ids;
    const sourceIds = config.knowledge_base.knowledge_source_ids;
    const [tools, knowledge] = await Promise.all([
      toolIds.length > 0 ? source.toolCopies(workspaceId, toolIds) : [],
      sourceIds.length > 0 ? source.newestRevisions(workspaceId, sourceIds) : [],
    ]);
    return { tools, knowledge };
  };
}

/** Throws `Failure` 409 for tools that no session could be given. */
export function refuseOversized({ tools }: Attachments): void {
  if (tools.length > 0 && Buffer.byteLength(JSON.stringify(tools)) > TOOLS_MAX_BYTES) {
    throw new Failure('conflict', 'The attached tools are larger than 4 MB together');
  }
}

export function attachmentsOf(version: Pick<AgentVersionDoc, 'tools' | 'knowledge'>): Attachments {
  return { tools: version.tools ?? [], knowledge: version.knowledge ?? [] };
}
