import type { Logger } from '../../shared/log.ts';
import type { Collection, Document, Store } from './collection.ts';
import type { Migration } from './migrations/migration.ts';
import { migrations as allMigrations } from './migrations/migrations.ts';
import { VERSION_FIELD } from './schema-version.ts';

/** Documents read at once; after each lot the way back in is written down. */
const BATCH_SIZE = 200;

interface StoredDocument extends Document {
  readonly [VERSION_FIELD]?: number;
  readonly [field: string]: unknown;
}

/** How far a collection is. */
interface Progress extends Document {
  /** Every document is of this version at least. */
  readonly version: number;
  /** Where a migration to the next version has got to; null while there is none. */
  readonly afterId: string | null;
}

/** The store was written by a newer version of the program, which this one would damage. */
export class NewerSchema extends Error {
  constructor(collection: string, stored: number, known: number) {
    super(
      `the collection ${collection} has schema version ${stored}, this program knows ${known}; start a newer one`,
    );
    this.name = 'NewerSchema';
  }
}

/**
 * Brings every document to today's schema version. It may be killed at any time and run again, also by several processes
 * at once: each document is changed by one of them, once. Throws `NewerSchema` before it changes anything.
 */
export async function migrate(
  store: Store,
  log: Logger,
  migrations: readonly Migration[] = allMigrations,
): Promise<void> {
  const progress = store.collection<Progress>('schema_progress');
  const collections = [...new Set(migrations.map(({ collection }) => collection))];
  const standings = await Promise.all(
    collections.map(async (collection) => {
      const steps = migrations.filter((m) => m.collection === collection);
      const stands = await progress.findOne({ _id: collection });
      const known = Math.max(...steps.map(({ toVersion }) => toVersion));
      if (stands && stands.version > known) throw new NewerSchema(collection, stands.version, known);
      return { steps, stands };
    }),
  );
  for (const { steps, stands } of standings) {
    for (const step of steps.filter(({ toVersion }) => toVersion > (stands?.version ?? 1))) {
      const isNext = stands?.version === step.toVersion - 1;
      const changed = await takeStep(store, progress, step, isNext ? stands.afterId : null);
      const done = { collection: step.collection, version: step.toVersion, changed };
      if (changed > 0) log.info(done, 'documents migrated');
      else log.debug(done, 'no document to migrate');
    }
  }
}

async function takeStep(
  store: Store,
  progress: Collection<Progress>,
  step: Migration,
  resumeAfterId: string | null,
): Promise<number> {
  const rows = store.collection<StoredDocument>(step.collection);
  let afterId = resumeAfterId;
  let changed = 0;
  for (;;) {
    const filter = afterId === null ? {} : { _id: { $gt: afterId } };
    const batch = await rows.find(filter, { sort: { _id: 1 }, limit: BATCH_SIZE });
    const old = batch.filter((doc) => (doc[VERSION_FIELD] ?? 1) < step.toVersion);
    const outcomes = await Promise.all(old.map((doc) => change(rows, doc, step)));
    changed += outcomes.reduce((sum, matched) => sum + matched, 0);
    const isLast = batch.length < BATCH_SIZE;
    afterId = isLast ? null : (batch.at(-1)?._id ?? null);
    await progress.updateOne(
      { _id: step.collection },
      { $set: { version: isLast ? step.toVersion : step.toVersion - 1, afterId, [VERSION_FIELD]: 1 } },
      { upsert: true },
    );
    if (isLast) return changed;
  }
}

/** 0 when another process was faster: the document is no longer of the version it was read in. */
function change(rows: Collection<StoredDocument>, doc: StoredDocument, step: Migration): Promise<number> {
  const version = doc[VERSION_FIELD];
  return rows.updateOne(
    { _id: doc._id, [VERSION_FIELD]: version ?? { $exists: false } },
    { $set: { ...step.fieldsFor(doc), [VERSION_FIELD]: step.toVersion } },
  );
}
