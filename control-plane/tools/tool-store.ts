import type { CursorSigner } from '../http/cursor-signer.ts';
import { type PageQuery, paginate } from '../http/pagination.ts';
import type { Document, Filter, Store } from '../storage/collection.ts';
import type { ToolContent } from './tool-schema.ts';

export interface ToolDoc extends Document {
  readonly workspaceId: string;
  /** Values of authorization headers in stored form. */
  readonly content: ToolContent;
  /** Counts the changes; a change is written on the revision it was made from. */
  readonly revision: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface ToolQuery {
  readonly search: string;
  /** Null: whatever their id. */
  readonly ids: readonly string[] | null;
}

/** Tools of workspaces. Every read is scoped to one: another team's tool doesn't exist. */
export function createToolStore(store: Store, cursors: CursorSigner) {
  const tools = store.collection<ToolDoc>('tools');

  const insert = (doc: ToolDoc) => tools.insertOne(doc);
  const find = (id: string, workspaceId: string) => tools.findOne({ _id: id, workspaceId });
  /** Those that exist, in no order. */
  const findAll = (ids: readonly string[], workspaceId: string) =>
    ids.length === 0 ? Promise.resolve([]) : tools.find({ _id: { $in: ids }, workspaceId });

  /** Newest first. */
  const list = (workspaceId: string, query: ToolQuery, page: PageQuery) =>
    paginate({
      collection: tools,
      filter: filterOf(workspaceId, query),
      sort: { workspaceId: -1, createdAtMs: -1, _id: -1 },
      query: page,
      signer: cursors,
      scope: `tools:${workspaceId}`,
    });

  /** The tool after the change, or null when it is no longer at `revision`. */
  const update = (id: string, revision: number, content: ToolContent, nowMs: number) =>
    tools.findOneAndUpdate(
      { _id: id, revision },
      { $set: { content, revision: revision + 1, updatedAtMs: nowMs } },
    );

  /** False when there was none. */
  const remove = async (id: string, workspaceId: string) =>
    (await tools.deleteOne({ _id: id, workspaceId })) > 0;

  const ensureIndexes = () => tools.createIndex({ workspaceId: 1, createdAtMs: 1, _id: 1 });

  return { insert, find, findAll, list, update, remove, ensureIndexes };
}
export type ToolStore = ReturnType<typeof createToolStore>;

function filterOf(workspaceId: string, { search, ids }: ToolQuery): Filter {
  return {
    workspaceId,
    ...(ids === null ? {} : { _id: { $in: ids } }),
    ...(search === '' ? {} : { 'content.name': new RegExp(escapeRegExp(search), 'i') }),
  };
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
