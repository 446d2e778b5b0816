import type { Document, Store } from '../storage/collection.ts';
import { LIST_LIMIT } from './account-store.ts';

/** An API key without the key: only its keyed hash is kept. */
export interface ApiKeyDoc extends Document {
  readonly workspaceId: string;
  readonly userId: string;
  readonly name: string;
  /** HMAC-SHA256 of the whole key, hex. */
  readonly hash: string;
  /** Id of the master key that `hash` was made with. */
  readonly hashKeyId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
}

/** API keys by their public id. */
export function createApiKeyStore(store: Store) {
  const keys = store.collection<ApiKeyDoc>('api_keys');
  return {
    insert: (doc: ApiKeyDoc) => keys.insertOne(doc),
    find: (id: string) => keys.findOne({ _id: id }),
    listOf: (workspaceId: string) => keys.find({ workspaceId }, { limit: LIST_LIMIT }),
    updateHash: (id: string, hash: string, hashKeyId: string) =>
      keys.updateOne({ _id: id }, { $set: { hash, hashKeyId } }),
    /** False when there is no such key. Revoking twice keeps the first time. */
    revoke: async (id: string, nowMs: number): Promise<boolean> => {
      await keys.updateOne({ _id: id, revokedAtMs: null }, { $set: { revokedAtMs: nowMs } });
      return (await keys.findOne({ _id: id })) !== null;
    },
    ensureIndexes: () => keys.createIndex({ workspaceId: 1, _id: 1 }),
  };
}
export type ApiKeyStore = ReturnType<typeof createApiKeyStore>;
