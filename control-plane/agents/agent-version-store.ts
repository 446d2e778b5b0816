import type { AgentConfig } from '../../shared/agent-config.ts';
import type { KnowledgePin } from '../../shared/knowledge-pin.ts';
import type { ToolDefinition } from '../../shared/tool-definition.ts';
import type { CursorSigner } from '../http/cursor-signer.ts';
import { type PageQuery, paginate } from '../http/pagination.ts';
import { type Document, DuplicateKeyError, type Store } from '../storage/collection.ts';

/** One published, frozen configuration. */
export interface AgentVersionDoc extends Document {
  readonly agentId: string;
  readonly number: number;
  readonly title: string | null;
  readonly description: string | null;
  /** Secrets in stored form. */
  readonly config: AgentConfig;
  /** Copies of the attached tools, credentials in stored form. */
  readonly tools?: readonly ToolDefinition[];
  /** The attached sources with the revision that was the newest. */
  readonly knowledge?: readonly KnowledgePin[];
  /** Of the configuration with its attachments. */
  readonly configHash: string;
  readonly configUpdatedAtMs: number;
  readonly publishedAtMs: number;
}

/** Versions of agents; the highest number of an agent is the live one. */
export function createAgentVersionStore(store: Store, cursors: CursorSigner) {
  const versions = store.collection<AgentVersionDoc>('agent_versions');

  /** False when the number is taken: another publish was faster. */
  async function insert(version: Omit<AgentVersionDoc, '_id'>): Promise<boolean> {
    try {
      await versions.insertOne({ ...version, _id: idOf(version.agentId, version.number) });
      return true;
    } catch (error) {
      if (error instanceof DuplicateKeyError) return false;
      throw error;
    }
  }

  const find = (agentId: string, number: number) => versions.findOne({ _id: idOf(agentId, number) });

  async function findLive(agentId: string): Promise<AgentVersionDoc | null> {
    const [live] = await versions.find({ agentId }, { sort: { agentId: -1, number: -1 }, limit: 1 });
    return live ?? null;
  }

  /** Newest first. */
  const list = (agentId: string, page: PageQuery) =>
    paginate({
      collection: versions,
      filter: { agentId },
      sort: { agentId: -1, number: -1 },
      query: page,
      signer: cursors,
      scope: `agent_versions:${agentId}`,
    });

  const removeAll = (agentId: string) => versions.deleteMany({ agentId });
  const ensureIndexes = () => versions.createIndex({ agentId: 1, number: 1 });

  return { insert, find, findLive, list, removeAll, ensureIndexes };
}
export type AgentVersionStore = ReturnType<typeof createAgentVersionStore>;

function idOf(agentId: string, number: number): string {
  return `${agentId}:${number}`;
}
