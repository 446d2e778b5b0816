import type { TimelineItem } from '../../shared/session-timeline.ts';
import { type Document, DuplicateKeyError, type Store } from '../storage/collection.ts';

interface ItemDoc extends Document {
  readonly sessionId: string;
  readonly seq: number;
  /** As JSON text: tool input and output are anything. */
  readonly itemJson: string;
}

interface LogDoc extends Document {
  readonly sessionId: string;
  readonly seq: number;
  readonly kind: 'decision_log' | 'turn_metrics';
  readonly atMs: number;
  readonly text: string;
}

/** Timeline items and engine logs, each a document of its own keyed by (session, sequence). */
export function createSessionItemStore(store: Store) {
  const items = store.collection<ItemDoc>('session_items');
  const logs = store.collection<LogDoc>('session_logs');

  /** False when this sequence number of the session is stored already. */
  const addItem = (sessionId: string, seq: number, item: TimelineItem) =>
    insertOnce(() =>
      items.insertOne({ _id: idOf(sessionId, seq), sessionId, seq, itemJson: JSON.stringify(item) }),
    );

  async function listItems(sessionId: string): Promise<TimelineItem[]> {
    const docs = await items.find({ sessionId }, { sort: { sessionId: 1, seq: 1 } });
    // The text was made from a checked item by `addItem`.
    return docs.map(({ itemJson }) => JSON.parse(itemJson) as TimelineItem);
  }

  /** False when this sequence number of the session is stored already. */
  const addLog = (entry: Omit<LogDoc, '_id'>) =>
    insertOnce(() => logs.insertOne({ ...entry, _id: idOf(entry.sessionId, entry.seq) }));

  const listLog = (sessionId: string) => logs.find({ sessionId }, { sort: { sessionId: 1, seq: 1 } });

  async function ensureIndexes(): Promise<void> {
    await items.createIndex({ sessionId: 1, seq: 1 });
    await logs.createIndex({ sessionId: 1, seq: 1 });
  }
  return { addItem, listItems, addLog, listLog, ensureIndexes };
}
export type SessionItemStore = ReturnType<typeof createSessionItemStore>;

function idOf(sessionId: string, seq: number): string {
  return `${sessionId}:${seq}`;
}

async function insertOnce(insert: () => Promise<void>): Promise<boolean> {
  try {
    await insert();
    return true;
  } catch (error) {
    if (error instanceof DuplicateKeyError) return false;
    throw error;
  }
}
