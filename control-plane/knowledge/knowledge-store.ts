import type { CursorSigner } from '../http/cursor-signer.ts';
import { type PageQuery, paginate } from '../http/pagination.ts';
import type { Document, Filter, Store } from '../storage/collection.ts';

/** What a revision says of itself to its source. */
export interface RevisionFacts {
  readonly revisionId: string;
  readonly revisionNumber: number;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly chunkCount: number;
}

export interface SourceDoc extends Document, RevisionFacts {
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** One uploaded text. Never changes; goes with its source. */
export interface RevisionDoc extends Document {
  readonly sourceId: string;
  readonly text: string;
  readonly chunks: readonly string[];
}

export type SourceFields = Partial<Pick<SourceDoc, 'name' | 'description'> & RevisionFacts>;

/**
 * Knowledge sources and their revisions. A revision is stored before the source that points to it, so that a source
 * always has its text. Reads of sources are scoped to a workspace: another team's source doesn't exist.
 */
export function createKnowledgeStore(store: Store, cursors: CursorSigner) {
  const sources = store.collection<SourceDoc>('knowledge_sources');
  const revisions = store.collection<RevisionDoc>('knowledge_revisions');

  const insert = (doc: SourceDoc) => sources.insertOne(doc);
  const find = (id: string, workspaceId: string) => sources.findOne({ _id: id, workspaceId });
  /** Those that exist, in no order. */
  const findAll = (ids: readonly string[], workspaceId: string) =>
    ids.length === 0 ? Promise.resolve([]) : sources.find({ _id: { $in: ids }, workspaceId });

  /** Newest first. */
  const list = (workspaceId: string, search: string, page: PageQuery) =>
    paginate({
      collection: sources,
      filter: filterOf(workspaceId, search),
      sort: { workspaceId: -1, createdAtMs: -1, _id: -1 },
      query: page,
      signer: cursors,
      scope: `knowledge_sources:${workspaceId}`,
    });

  /** The source after the change, or null when `revisionId` is no longer its revision. */
  const update = (id: string, revisionId: string, fields: SourceFields, nowMs: number) =>
    sources.findOneAndUpdate({ _id: id, revisionId }, { $set: { ...fields, updatedAtMs: nowMs } });

  /** With every revision. False when there was none. */
  async function remove(id: string, workspaceId: string): Promise<boolean> {
    if ((await sources.deleteOne({ _id: id, workspaceId })) === 0) return false;
    await revisions.deleteMany({ sourceId: id });
    return true;
  }

  const insertRevision = (doc: RevisionDoc) => revisions.insertOne(doc);
  const findRevision = (id: string) => revisions.findOne({ _id: id });
  const removeRevision = (id: string) => revisions.deleteOne({ _id: id });

  async function ensureIndexes(): Promise<void> {
    await Promise.all([
      sources.createIndex({ workspaceId: 1, createdAtMs: 1, _id: 1 }),
      revisions.createIndex({ sourceId: 1 }),
    ]);
  }

  return {
    insert,
    find,
    findAll,
    list,
    update,
    remove,
    insertRevision,
    findRevision,
    removeRevision,
    ensureIndexes,
  };
}
export type KnowledgeStore = ReturnType<typeof createKnowledgeStore>;

function filterOf(workspaceId: string, search: string): Filter {
  if (search === '') return { workspaceId };
  const pattern = new RegExp(search.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
  return { workspaceId, $or: [{ name: pattern }, { fileName: pattern }] };
}
