import { type Document, DuplicateKeyError, type Store } from '../storage/collection.ts';

/** A request under a key of the caller's choice. */
export interface KeyedRequest extends Document {
  /** Tells apart those who held the key one after the other. */
  readonly attemptId: string;
  readonly bodyHash: string;
  /** Chosen before anything happens, so that what a lost attempt did can be found. */
  readonly sessionId: string;
  readonly isDone: boolean;
  readonly createdAtMs: number;
}

/** Requests by their idempotency key. */
export function createIdempotencyStore(store: Store) {
  const requests = store.collection<KeyedRequest>('phone_call_keys');

  /** Null when the key is the request's now; else the request that holds it. */
  async function claim(request: KeyedRequest, keptFromMs: number): Promise<KeyedRequest | null> {
    try {
      await requests.insertOne(request);
      return null;
    } catch (error) {
      if (!(error instanceof DuplicateKeyError)) throw error;
    }
    const standing = await requests.findOne({ _id: request._id });
    if (!standing) return claim(request, keptFromMs);
    if (standing.createdAtMs > keptFromMs) return standing;
    return (await takeOver(standing, request)) ? null : requests.findOne({ _id: request._id });
  }

  /** False when somebody else was faster. */
  const takeOver = async (from: KeyedRequest, to: KeyedRequest): Promise<boolean> =>
    (await requests.replaceOne({ _id: from._id, attemptId: from.attemptId }, to)) > 0;

  return {
    claim,
    takeOver,
    finish: ({ _id, attemptId }: KeyedRequest) =>
      requests.updateOne({ _id, attemptId }, { $set: { isDone: true } }),
    remove: ({ _id, attemptId }: KeyedRequest) => requests.deleteOne({ _id, attemptId }),
    removeBefore: (createdAtMs: number) => requests.deleteMany({ createdAtMs: { $lt: createdAtMs } }),
    ensureIndexes: () => requests.createIndex({ createdAtMs: 1 }),
  };
}
export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;
