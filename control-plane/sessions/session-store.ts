import { sessionIdBound } from '../../shared/ids.ts';
import type { CursorSigner } from '../http/cursor-signer.ts';
import { type PageQuery, paginate } from '../http/pagination.ts';
import type { Document, Filter, Store } from '../storage/collection.ts';
import {
  type Aftermath,
  addToOutbox,
  type SessionAnalysis,
  type SessionNotice,
  type SessionWebhook,
} from './session-notices.ts';
import type { DialStatus, EndReason, SessionChange, SessionStatus } from './session-state.ts';

export type SessionSource = 'api_key' | 'dashboard' | 'public' | 'phone';

/** Previews are read by their id alone. */
const PREVIEW_SOURCE: SessionSource = 'dashboard';

export interface SessionDoc extends Document {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentName: string;
  /** Null for a preview of the draft. */
  readonly agentVersion: number | null;
  readonly configHash: string;
  readonly name: string | null;
  readonly status: SessionStatus;
  readonly endReason: EndReason | null;
  readonly source: SessionSource;
  readonly direction: 'inbound' | 'outbound';
  readonly callerNumber: string | null;
  readonly dialedNumber: string | null;
  /** Null until an outbound dial is resolved, and on every other session. */
  readonly dialStatus: DialStatus | null;
  readonly timezone: string | null;
  readonly createdAtMs: number;
  readonly joinDeadlineMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly durationS: number | null;
  readonly endUserId: string | null;
  /** As JSON text, as its keys are the caller's. */
  readonly metadataJson: string;
  readonly isBilled: boolean;
  readonly workerId: string | null;
  readonly unknownSinceMs: number | null;
  /** What is still owed after the end; null when nothing is. */
  readonly moneyDue: 'settle' | 'give_back' | null;
  /** Bytes of the engine's log and metrics stored so far. */
  readonly logBytes: number;
  /** Where its events go. Records without the field have nowhere. */
  readonly webhooks?: readonly SessionWebhook[];
  /** Events that were not handed to the deliveries yet. */
  readonly outbox?: readonly SessionNotice[];
  /** When the outbox is to be looked at; null while it is empty. */
  readonly outboxDueAtMs?: number | null;
  /** Of whoever empties the outbox; taken away when an event is added. */
  readonly outboxToken?: string | null;
  /** Null until a real call has ended. */
  readonly analysis?: SessionAnalysis | null;
  /** When the analysis is to be looked at; null when it isn't. */
  readonly analysisDueAtMs?: number | null;
}

/** What a worker reports last may still be on its way when a session ends. */
const ANALYSIS_DELAY_MS = 1_000;

export interface SessionQuery {
  readonly agentId?: string;
  readonly statuses?: readonly SessionStatus[];
  readonly direction?: 'inbound' | 'outbound';
  readonly callerNumber?: string;
  /** Inclusive. */
  readonly createdFromMs?: number;
  /** Exclusive. */
  readonly createdBeforeMs?: number;
}

/** Session records. Reads by callers are scoped to a workspace; the rest serves events and the sweeper. */
export function createSessionStore(store: Store, cursors: CursorSigner) {
  const sessions = store.collection<SessionDoc>('sessions');

  const insert = (doc: SessionDoc) => sessions.insertOne(doc);
  const find = (id: string, workspaceId: string) => sessions.findOne({ _id: id, workspaceId });
  const findAnywhere = (id: string) => sessions.findOne({ _id: id });
  const remove = (id: string) => sessions.deleteOne({ _id: id });

  /** Newest first, as ids sort by time of creation. */
  const list = (workspaceId: string, query: SessionQuery, page: PageQuery) =>
    paginate({
      collection: sessions,
      filter: filterOf(workspaceId, query),
      sort: { workspaceId: -1, _id: -1 },
      query: page,
      signer: cursors,
      scope: `sessions:${workspaceId}`,
    });

  /**
   * The session after the change, or null when it was no longer in the status that the change was made for. What the
   * change sets off is in the same write.
   */
  const change = (
    id: string,
    from: SessionStatus,
    fields: SessionChange,
    workerId: string | null,
    { notices, analysis }: Aftermath,
    nowMs: number,
  ) => {
    const { $set, ...push } = addToOutbox(notices, nowMs);
    return sessions.findOneAndUpdate(
      { _id: id, status: from },
      {
        $set: {
          ...fields,
          ...$set,
          ...(workerId === null ? {} : { workerId }),
          ...(analysis ? { analysis, analysisDueAtMs: nowMs + ANALYSIS_DELAY_MS } : {}),
        },
        ...push,
      },
    );
  };

  const clearMoneyDue = (id: string) => sessions.updateOne({ _id: id }, { $set: { moneyDue: null } });
  const addLogBytes = (id: string, bytes: number) =>
    sessions.updateOne({ _id: id }, { $inc: { logBytes: bytes } });

  const listUnjoined = (deadlineBeforeMs: number, limit: number) =>
    sessions.find({ status: 'pending', joinDeadlineMs: { $lt: deadlineBeforeMs } }, { limit });
  const listInStatus = (status: 'active' | 'unknown', limit: number) => sessions.find({ status }, { limit });
  const listOfWorker = (workerId: string, statuses: readonly ('active' | 'unknown')[]) =>
    sessions.find({ workerId, status: { $in: statuses } });
  const listMoneyDue = (limit: number) =>
    sessions.find({ moneyDue: { $in: ['settle', 'give_back'] } }, { limit });

  async function ensureIndexes(): Promise<void> {
    await sessions.createIndex({
      workspaceId: 1,
      _id: 1,
      source: 1,
      agentId: 1,
      status: 1,
      direction: 1,
      callerNumber: 1,
    });
    await sessions.createIndex({ status: 1, joinDeadlineMs: 1 });
    await sessions.createIndex({ workerId: 1, status: 1 });
    await sessions.createIndex({ moneyDue: 1 });
  }

  return {
    insert,
    find,
    findAnywhere,
    remove,
    list,
    change,
    clearMoneyDue,
    addLogBytes,
    listUnjoined,
    listInStatus,
    listOfWorker,
    listMoneyDue,
    ensureIndexes,
  };
}
export type SessionStore = ReturnType<typeof createSessionStore>;

/** Every field of it is in the list's index, so that counting and skipping need no document. */
function filterOf(workspaceId: string, query: SessionQuery): Filter {
  const { agentId, statuses, direction, callerNumber, createdFromMs, createdBeforeMs } = query;
  // Ids begin with the time of creation.
  const ofTime = {
    ...(createdFromMs === undefined ? {} : { $gte: sessionIdBound(createdFromMs) }),
    ...(createdBeforeMs === undefined ? {} : { $lt: sessionIdBound(createdBeforeMs) }),
  };
  return {
    workspaceId,
    source: { $ne: PREVIEW_SOURCE },
    ...(agentId === undefined ? {} : { agentId }),
    ...(statuses === undefined ? {} : { status: { $in: statuses } }),
    // A record without the field counts as inbound.
    ...(direction === undefined
      ? {}
      : { direction: direction === 'outbound' ? direction : { $ne: 'outbound' } }),
    ...(callerNumber === undefined ? {} : { callerNumber }),
    ...(Object.keys(ofTime).length === 0 ? {} : { _id: ofTime }),
  };
}
