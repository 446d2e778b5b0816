import type { KnowledgePin } from '../../shared/knowledge-pin.ts';
import type { KnowledgeStore, RevisionDoc, SourceDoc } from './knowledge-store.ts';

/** Texts of this size together go into the prompt whole; larger ones are searched in every turn. */
const INLINE_MAX_BYTES = 8_192;
/** A session carries no more text than this; what comes after it, in the order of the sources, is left out. */
const CHUNKS_MAX_BYTES = 4 * 1024 * 1024;

const READ_TOGETHER = 8;

/** A passage to search and show. */
export interface KnowledgeChunk {
  readonly id: string;
  readonly sourceName: string;
  readonly text: string;
}

/** What a session knows; one of the two is empty. */
export interface SessionKnowledge {
  readonly inlineText: string;
  readonly chunks: readonly KnowledgeChunk[];
}

/** What agents and sessions ask of knowledge sources. */
export function createKnowledgeAttachment(sources: KnowledgeStore) {
  /** In the order of `ids`, each once; those that are gone are left out. */
  async function find(workspaceId: string, ids: readonly string[]): Promise<SourceDoc[]> {
    const unique = [...new Set(ids)];
    const found = new Map((await sources.findAll(unique, workspaceId)).map((source) => [source._id, source]));
    return unique.flatMap((id) => found.get(id) ?? []);
  }

  /** Those of `ids` that aren't knowledge sources of the workspace. */
  async function unknown(workspaceId: string, ids: readonly string[]): Promise<readonly string[]> {
    const known = new Set((await find(workspaceId, ids)).map(({ _id }) => _id));
    return ids.filter((id) => !known.has(id));
  }

  /** The newest revision of each source. */
  async function pins(workspaceId: string, ids: readonly string[]): Promise<KnowledgePin[]> {
    return (await find(workspaceId, ids)).map(({ _id, revisionId, revisionNumber }) => ({
      sourceId: _id,
      revisionId,
      revisionNumber,
    }));
  }

  /** The text of the pinned revisions: inlined up to 8 KB in all, cut into chunks beyond. */
  async function knowledgeFor(
    workspaceId: string,
    pinned: readonly KnowledgePin[],
  ): Promise<SessionKnowledge> {
    const ids = pinned.map(({ sourceId }) => sourceId);
    const names = new Map((await find(workspaceId, ids)).map(({ _id, name }) => [_id, name]));
    const revisions: RevisionDoc[] = [];
    let chunkBytes = 0;
    // In groups: a hundred texts of a megabyte are never in memory together.
    for (let from = 0; from < pinned.length && chunkBytes < CHUNKS_MAX_BYTES; from += READ_TOGETHER) {
      const group = pinned.slice(from, from + READ_TOGETHER).filter(({ sourceId }) => names.has(sourceId));
      const read = await Promise.all(group.map(({ revisionId }) => sources.findRevision(revisionId)));
      for (const revision of read) {
        if (!revision) continue;
        revisions.push(revision);
        chunkBytes += bytesOf(revision.chunks);
      }
    }
    const textBytes = bytesOf(revisions.map(({ text }) => text));
    if (textBytes <= INLINE_MAX_BYTES) {
      return { inlineText: revisions.map(({ text }) => text.trim()).join('\n\n'), chunks: [] };
    }
    return { inlineText: '', chunks: boundedChunks(revisions, names) };
  }

  return { unknown, pins, knowledgeFor };
}
export type KnowledgeAttachment = ReturnType<typeof createKnowledgeAttachment>;

function boundedChunks(
  revisions: readonly RevisionDoc[],
  names: ReadonlyMap<string, string>,
): KnowledgeChunk[] {
  const chunks: KnowledgeChunk[] = [];
  let bytes = 0;
  for (const { sourceId, chunks: texts } of revisions) {
    for (const [index, text] of texts.entries()) {
      bytes += Buffer.byteLength(text);
      if (bytes > CHUNKS_MAX_BYTES) return chunks;
      chunks.push({ id: `${sourceId}:${index}`, sourceName: names.get(sourceId) ?? '', text });
    }
  }
  return chunks;
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
