import { type Document, DuplicateKeyError, type Store } from '../storage/collection.ts';
import { freeSlot } from './slots.ts';

/** An outbound call that is up or on its way, under its session's id. */
export interface PhoneCallDoc extends Document {
  readonly workspaceId: string;
  readonly phoneNumberId: string;
  readonly createdAtMs: number;
  /** The request as JSON text, for whoever builds the conversation when the call is answered. */
  readonly requestJson: string;
  /** One of the team's places for calls at once; unique. */
  readonly slotKey: string;
}

interface DayDoc extends Document {
  readonly day: string;
  readonly tries: number;
}

const LIVE_LIMIT = 10_000;

/** Outbound calls that are up (the session is what stays of them), and how many were tried on a day. */
export function createPhoneCallStore(store: Store) {
  const calls = store.collection<PhoneCallDoc>('phone_calls');
  const days = store.collection<DayDoc>('phone_call_days');

  const listLive = (workspaceId: string) => calls.find({ workspaceId }, { limit: LIVE_LIMIT });

  /** Takes one of the team's `limit` places with the new call; false when all are taken. */
  async function claim(call: Omit<PhoneCallDoc, 'slotKey'>, limit: number): Promise<boolean> {
    // Each failed try means that somebody else took the place.
    for (let tries = 0; tries <= limit * 2; tries++) {
      const live = await listLive(call.workspaceId);
      const slotKey = freeSlot(
        call.workspaceId,
        live.map((other) => other.slotKey),
        limit,
      );
      if (slotKey === null) return false;
      try {
        await calls.insertOne({ ...call, slotKey });
        return true;
      } catch (error) {
        if (!(error instanceof DuplicateKeyError)) throw error;
      }
    }
    return false;
  }

  /** Counts a try and answers how many the team made on that UTC day. */
  async function countTry(workspaceId: string, day: string): Promise<number> {
    const filter = { _id: `${workspaceId}:${day}` };
    const update = { $inc: { tries: 1 }, $setOnInsert: { day } };
    try {
      return (await days.findOneAndUpdate(filter, update, { upsert: true }))?.tries ?? 1;
    } catch (error) {
      if (!(error instanceof DuplicateKeyError)) throw error;
      // Two first tries of a day met; now the row is there.
      return (await days.findOneAndUpdate(filter, { $inc: { tries: 1 } }))?.tries ?? 1;
    }
  }

  return {
    claim,
    countTry,
    listLive,
    find: (sessionId: string) => calls.findOne({ _id: sessionId }),
    remove: (sessionId: string) => calls.deleteOne({ _id: sessionId }),
    removeDaysBefore: (day: string) => days.deleteMany({ day: { $lt: day } }),
    async ensureIndexes(): Promise<void> {
      await calls.createIndex({ workspaceId: 1, _id: 1 });
      await calls.createIndex({ slotKey: 1 }, { unique: true });
      await days.createIndex({ day: 1 });
    },
  };
}
export type PhoneCallStore = ReturnType<typeof createPhoneCallStore>;
