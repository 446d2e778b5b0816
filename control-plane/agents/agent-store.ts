import type { AgentConfig } from '../../shared/agent-config.ts';
import type { CursorSigner } from '../http/cursor-signer.ts';
import { type PageQuery, paginate } from '../http/pagination.ts';
import type { Document, Filter, Store } from '../storage/collection.ts';

export type OverrideName = 'first_message' | 'system_prompt' | 'voice_id' | 'language';

export interface AgentDoc extends Document {
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string;
  readonly status: 'active' | 'archived';
  readonly publicationState: 'draft' | 'live';
  readonly isPublic: boolean;
  readonly allowedOrigins: readonly string[];
  readonly overridesAllowed: readonly OverrideName[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The draft, secrets in stored form. */
  readonly config: AgentConfig;
  readonly configHash: string;
  /** Counts the draft's changes; a change is written on the revision it was made from. */
  readonly configRevision: number;
  readonly configUpdatedAtMs: number;
  /** What the live version refers to outside itself. */
  readonly live?: { readonly number: number; readonly knowledgeSourceIds: readonly string[] };
}

export type AgentFields = Partial<
  Pick<AgentDoc, 'name' | 'description' | 'status' | 'isPublic' | 'allowedOrigins' | 'overridesAllowed'>
>;

export interface AgentQuery {
  readonly search?: string;
  readonly includeArchived: boolean;
  readonly publicationState: 'all' | 'live' | 'draft';
}

/** Agents and their drafts. Every read by a caller is scoped to a workspace: another team's agent doesn't exist. */
export function createAgentStore(store: Store, cursors: CursorSigner) {
  const agents = store.collection<AgentDoc>('agents');

  const insert = (doc: AgentDoc) => agents.insertOne(doc);
  const find = (id: string, workspaceId: string) => agents.findOne({ _id: id, workspaceId });
  /** For callers without a workspace: what they may see is the caller's decision. */
  const findAnywhere = (id: string) => agents.findOne({ _id: id });

  /** Newest first. */
  const list = (workspaceId: string, query: AgentQuery, page: PageQuery) =>
    paginate({
      collection: agents,
      filter: filterOf(workspaceId, query),
      sort: { workspaceId: -1, createdAtMs: -1, _id: -1 },
      query: page,
      signer: cursors,
      scope: `agents:${workspaceId}`,
    });

  /** The agent after the change, or null when there is none. */
  const update = (id: string, workspaceId: string, fields: AgentFields, nowMs: number) =>
    agents.findOneAndUpdate({ _id: id, workspaceId }, { $set: { ...fields, updatedAtMs: nowMs } });

  /** The agent with its new draft, or null when the draft is no longer at `revision`. */
  const updateConfig = (
    id: string,
    revision: number,
    draft: { config: AgentConfig; configHash: string },
    nowMs: number,
  ) =>
    agents.findOneAndUpdate(
      { _id: id, configRevision: revision },
      {
        $set: { ...draft, configRevision: revision + 1, configUpdatedAtMs: nowMs, updatedAtMs: nowMs },
      },
    );

  /** Takes the version for the live one, unless a higher one is. False when the agent is gone. */
  async function markLive(id: string, live: NonNullable<AgentDoc['live']>, nowMs: number): Promise<boolean> {
    const isLower = { $or: [{ live: { $exists: false } }, { 'live.number': { $lte: live.number } }] };
    const fields = { live, publicationState: 'live', updatedAtMs: nowMs };
    if ((await agents.updateOne({ _id: id, ...isLower }, { $set: fields })) > 0) return true;
    return (await agents.findOne({ _id: id })) !== null;
  }

  /** Agents whose draft has one of the tools, newest first. */
  const findWithTools = (workspaceId: string, toolIds: readonly string[]) =>
    agents.find(
      { workspaceId, 'config.tools.tool_ids': { $in: toolIds } },
      { sort: { workspaceId: -1, createdAtMs: -1, _id: -1 } },
    );

  /** Agents whose draft or live version has the knowledge source, newest first. */
  const findWithSource = (workspaceId: string, sourceId: string) =>
    agents.find(
      {
        workspaceId,
        $or: [
          { 'config.knowledge_base.knowledge_source_ids': sourceId },
          { 'live.knowledgeSourceIds': sourceId },
        ],
      },
      { sort: { workspaceId: -1, createdAtMs: -1, _id: -1 } },
    );

  const remove = async (id: string, workspaceId: string) =>
    (await agents.deleteOne({ _id: id, workspaceId })) > 0;

  const ensureIndexes = () => agents.createIndex({ workspaceId: 1, createdAtMs: 1, _id: 1 });

  return {
    insert,
    find,
    findAnywhere,
    list,
    update,
    updateConfig,
    markLive,
    findWithTools,
    findWithSource,
    remove,
    ensureIndexes,
  };
}
export type AgentStore = ReturnType<typeof createAgentStore>;

function filterOf(workspaceId: string, query: AgentQuery): Filter {
  const pattern = query.search ? new RegExp(escapeRegExp(query.search), 'i') : null;
  return {
    workspaceId,
    ...(query.includeArchived ? {} : { status: 'active' }),
    ...(query.publicationState === 'all' ? {} : { publicationState: query.publicationState }),
    ...(pattern ? { $or: [{ name: pattern }, { description: pattern }] } : {}),
  };
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
