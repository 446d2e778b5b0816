import { Failure } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { type Clock, toIso } from '../../shared/time.ts';
import { requireBetaAccess } from '../http/beta-access.ts';
import type { UploadedFile } from '../http/multipart-body.ts';
import type { KeyCaller } from '../http/route.ts';
import { chunkText } from './chunk-text.ts';
import type {
  CreateSourceForm,
  KnowledgeSource,
  KnowledgeSourceDetail,
  SourceListQuery,
  UpdateSourceForm,
} from './knowledge-schema.ts';
import type { KnowledgeStore, RevisionFacts, SourceDoc } from './knowledge-store.ts';
import { readSourceText } from './upload-text.ts';

export interface KnowledgeServiceDeps {
  readonly sources: KnowledgeStore;
  /** Agents whose draft or live version refers to the source. */
  readonly listSourceUsers: (
    workspaceId: string,
    sourceId: string,
  ) => Promise<{ readonly agents: { agent_id: string; name: string }[]; readonly total: number }>;
  readonly clock: Clock;
}

/** Tries of one new file against others for the same source at the same time. */
const MAX_UPDATE_TRIES = 50;

/** Knowledge sources of a workspace. Another team's source answers like a missing one: 404. */
export function createKnowledgeService({ sources, listSourceUsers, clock }: KnowledgeServiceDeps) {
  async function find(sourceId: string, caller: KeyCaller): Promise<SourceDoc> {
    const source = await sources.find(sourceId, caller.workspaceId);
    if (!source) throw notFound();
    return source;
  }

  /** Stores the text; answers what its source must say of it. Throws `Failure` 400 when it is no text. */
  async function addRevision(
    sourceId: string,
    file: UploadedFile,
  ): Promise<Omit<RevisionFacts, 'revisionNumber'>> {
    const { fileName, sizeBytes, text } = readSourceText(file);
    const revisionId = newId();
    const chunks = chunkText(text);
    await sources.insertRevision({ _id: revisionId, sourceId, text, chunks });
    return { revisionId, fileName, sizeBytes, chunkCount: chunks.length };
  }

  async function withContent(source: SourceDoc): Promise<KnowledgeSourceDetail> {
    const revision = await sources.findRevision(source.revisionId);
    // The source was deleted after it was read.
    if (!revision) throw notFound();
    return { ...toSource(source), content: revision.text };
  }

  async function create(form: CreateSourceForm, caller: KeyCaller): Promise<KnowledgeSourceDetail> {
    requireBetaAccess(caller);
    const sourceId = newId();
    const revision = await addRevision(sourceId, form.source);
    const nowMs = clock.nowMs();
    const source: SourceDoc = {
      _id: sourceId,
      workspaceId: caller.workspaceId,
      name: form.name ?? (revision.fileName || 'Untitled'),
      description: form.description ?? '',
      ...revision,
      revisionNumber: 1,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await sources.insert(source);
    return withContent(source);
  }

  /** A new file becomes the next revision; drafts use it at once, published versions keep theirs. */
  async function update(
    sourceId: string,
    form: UpdateSourceForm,
    caller: KeyCaller,
  ): Promise<KnowledgeSourceDetail> {
    await find(sourceId, caller);
    const { source: file, ...plain } = form;
    const revision = file ? await addRevision(sourceId, file) : null;
    for (let tries = 0; tries < MAX_UPDATE_TRIES; tries++) {
      const source = await sources.find(sourceId, caller.workspaceId);
      if (!source) {
        if (revision) await sources.removeRevision(revision.revisionId);
        throw notFound();
      }
      const next = revision ? { ...revision, revisionNumber: source.revisionNumber + 1 } : {};
      const fields = { ...plain, ...next };
      const updated = await sources.update(sourceId, source.revisionId, fields, clock.nowMs());
      if (updated) return withContent(updated);
    }
    throw new Failure('unavailable', 'Knowledge source is being changed by too many requests', {
      retryAfterS: 1,
    });
  }

  async function list(query: SourceListQuery, caller: KeyCaller) {
    const { rows, ...page } = await sources.list(caller.workspaceId, query.search ?? '', query);
    return { knowledge_sources: rows.map(toSource), ...page };
  }

  async function remove(sourceId: string, caller: KeyCaller): Promise<void> {
    await find(sourceId, caller);
    const { total } = await listSourceUsers(caller.workspaceId, sourceId);
    if (total > 0) {
      const what = `Knowledge source is attached to ${total} agent(s)`;
      throw new Failure('conflict', `${what}; detach it and publish before deleting it`);
    }
    if (!(await sources.remove(sourceId, caller.workspaceId))) throw notFound();
  }

  return {
    create,
    update,
    list,
    remove,
    get: async (sourceId: string, caller: KeyCaller) => withContent(await find(sourceId, caller)),
    listAgents: async (sourceId: string, caller: KeyCaller) => {
      await find(sourceId, caller);
      return listSourceUsers(caller.workspaceId, sourceId);
    },
  };
}
export type KnowledgeService = ReturnType<typeof createKnowledgeService>;

function toSource(source: SourceDoc): KnowledgeSource {
  return {
    knowledge_source_id: source._id,
    workspace_id: source.workspaceId,
    name: source.name,
    description: source.description,
    file_name: source.fileName,
    size_bytes: source.sizeBytes,
    chunk_count: source.chunkCount,
    revision_number: source.revisionNumber,
    created_at: toIso(source.createdAtMs),
    updated_at: toIso(source.updatedAtMs),
  };
}

function notFound(): Failure {
  return new Failure('not_found', 'Knowledge source not found');
}
