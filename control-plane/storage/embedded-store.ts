import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../../shared/time.ts';
import type { Collection, Document, Store } from './collection.ts';
import { EmbeddedCollection } from './embedded-collection.ts';
import { EmbeddedDatabase } from './embedded-database.ts';
import { openDatabase, type Synchronous } from './embedded-engine.ts';
import { EmbeddedTable } from './embedded-table.ts';

interface EmbeddedStoreOptions {
  /** Path of the database file, made when missing; `:memory:` for one that ends with the process. */
  readonly file: string;
  /** `FULL` (default): an acknowledged write survives power loss. `NORMAL`: faster, the last ones may not. */
  readonly synchronous?: Synchronous;
  readonly clock?: Clock;
}

/** A store in one SQLite file, safe to share between processes of one machine. Throws when it can't be opened. */
export function openEmbeddedStore(options: EmbeddedStoreOptions): Store {
  const { file, synchronous = 'FULL', clock = systemClock } = options;
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
  const db = new EmbeddedDatabase(openDatabase(file, synchronous), clock);
  const tables = new Map<string, EmbeddedTable>();

  function collection<T extends Document>(name: string): Collection<T> {
    const table = tables.get(name) ?? new EmbeddedTable(db, name);
    tables.set(name, table);
    return new EmbeddedCollection<T>(db, table);
  }

  async function ping(): Promise<void> {
    await db.perform('ping', () => db.statement('SELECT 1').get());
  }

  async function close(): Promise<void> {
    db.close();
  }

  return { collection, ping, close };
}
