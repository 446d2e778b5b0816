import { newId } from '../../shared/ids.ts';
import type { Store } from '../storage/collection.ts';
import type { SessionNotice, SessionWebhook } from './session-notices.ts';
import type { SessionDoc } from './session-store.ts';

/** Events held for handing on. */
export interface ClaimedOutbox {
  readonly session: SessionDoc;
  readonly endpoints: readonly SessionWebhook[];
  readonly notices: readonly SessionNotice[];
  /** Empties the outbox, unless an event was added since the claim. */
  readonly done: () => Promise<unknown>;
}

/** Events are written with what they tell, in the session's own record, and wait here until they were handed on. */
export function createSessionOutbox(store: Store) {
  const sessions = store.collection<SessionDoc>('sessions');

  /** The outbox that is due longest, held until `untilMs`; null when none is due. */
  async function claim(nowMs: number, untilMs: number): Promise<ClaimedOutbox | null> {
    const outboxToken = newId();
    const session = await sessions.findOneAndUpdate(
      { outboxDueAtMs: { $lte: nowMs } },
      { $set: { outboxDueAtMs: untilMs, outboxToken } },
      { sort: { outboxDueAtMs: 1 } },
    );
    if (!session) return null;
    return {
      session,
      endpoints: session.webhooks ?? [],
      notices: session.outbox ?? [],
      done: () =>
        sessions.updateOne(
          { _id: session._id, outboxToken },
          { $set: { outbox: [], outboxDueAtMs: null, outboxToken: null } },
        ),
    };
  }

  const ensureIndexes = () => sessions.createIndex({ outboxDueAtMs: 1 });
  return { claim, ensureIndexes };
}
