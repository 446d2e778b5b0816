import type { Collection, Document, Filter, FindOptions, SortOrder, Store, Update } from './collection.ts';
import { migrations } from './migrations/migrations.ts';

/** Field of every stored document. A document without it is of version 1. */
export const VERSION_FIELD = 'schemaVersion';

/** The version in which documents of a collection are written today: one more than migrations it has had. */
export function schemaVersionOf(collection: string): number {
  return Math.max(1, ...migrations.filter((m) => m.collection === collection).map((m) => m.toVersion));
}

/**
 * The same store, with the version of its schema in every document that is written. Whoever reads gets the documents
 * without it.
 */
export function withSchemaVersions(store: Store): Store {
  return {
    collection: <T extends Document>(name: string) =>
      versioned(store.collection<T>(name), schemaVersionOf(name)),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

function versioned<T extends Document>(inner: Collection<T>, version: number): Collection<T> {
  const marked = (doc: T): T => ({ ...doc, [VERSION_FIELD]: version });
  const onInsert = (update: Update): Update => ({
    ...update,
    $setOnInsert: { ...update.$setOnInsert, [VERSION_FIELD]: version },
  });
  const forUpsert = (update: Update, options?: { upsert?: boolean }) =>
    options?.upsert ? onInsert(update) : update;

  return {
    insertOne: (doc: T) => inner.insertOne(marked(doc)),
    findOne: async (filter: Filter) => unmarked(await inner.findOne(filter)),
    find: async (filter: Filter, options?: FindOptions) =>
      (await inner.find(filter, options)).map(unmarkedDoc),
    findOneAndUpdate: async (
      filter: Filter,
      update: Update,
      options?: { upsert?: boolean; sort?: SortOrder },
    ) => unmarked(await inner.findOneAndUpdate(filter, forUpsert(update, options), options)),
    updateOne: (filter: Filter, update: Update, options?: { upsert?: boolean }) =>
      inner.updateOne(filter, forUpsert(update, options), options),
    replaceOne: (filter: Filter, doc: T) => inner.replaceOne(filter, marked(doc)),
    deleteOne: (filter: Filter) => inner.deleteOne(filter),
    deleteMany: (filter: Filter) => inner.deleteMany(filter),
    countDocuments: (filter: Filter) => inner.countDocuments(filter),
    createIndex: (fields, options) => inner.createIndex(fields, options),
  };
}

function unmarked<T extends Document>(doc: T | null): T | null {
  return doc && unmarkedDoc(doc);
}

function unmarkedDoc<T extends Document>(doc: T): T {
  const { [VERSION_FIELD]: _version, ...rest } = doc as T & { readonly [VERSION_FIELD]?: number };
  // What is left is the document as it was handed in.
  return rest as unknown as T;
}
