import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import type { Store } from '../../control-plane/storage/collection.ts';
import { openDatabase } from '../../control-plane/storage/embedded-engine.ts';
import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';
import { openMongoStore } from '../../control-plane/storage/mongo-store.ts';
import { withSchemaVersions } from '../../control-plane/storage/schema-version.ts';
import { createDistantStore } from '../fakes/distant-store.ts';

/** Names the MongoDB-wire server that the suites of the API run on; without it they run on the embedded store. */
export const TEST_MONGO_URL = 'PARLEY_TEST_MONGO_URL';

export interface StoredDocument {
  readonly collection: string;
  readonly document: Record<string, unknown>;
}

export interface TestStore {
  readonly store: Store;
  readonly kind: 'embedded' | 'mongo';
  /** Everything that is stored, as it is stored. */
  rawBytes(): Promise<Buffer>;
  /** The documents of all collections, with every field. */
  everyDocument(): Promise<StoredDocument[]>;
  /** Closes it and removes what it held. */
  remove(): Promise<void>;
}

/**
 * An empty store of its own: SQLite in a new directory, or a new database of the server that `PARLEY_TEST_MONGO_URL`
 * names. Parallel requests interleave on both.
 */
export async function makeTestStore(): Promise<TestStore> {
  const url = process.env[TEST_MONGO_URL];
  return url === undefined ? makeEmbedded() : makeOnMongo(url);
}

function makeEmbedded(): TestStore {
  const directory = mkdtempSync(join(tmpdir(), 'parley-api-'));
  const store = openEmbeddedStore({ file: join(directory, 'store.db'), synchronous: 'NORMAL' });
  return {
    store: withSchemaVersions(createDistantStore(store)),
    kind: 'embedded',
    rawBytes: async () =>
      Buffer.concat(readdirSync(directory).map((name) => readFileSync(join(directory, name)))),
    everyDocument: async () => documentsOf(join(directory, 'store.db')),
    remove: async () => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function documentsOf(file: string): StoredDocument[] {
  const db = openDatabase(file, 'NORMAL');
  try {
    const tables = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all();
    return tables.flatMap(({ name }) =>
      db
        .prepare(`SELECT doc FROM "${name}"`)
        .all()
        .map(({ doc }) => ({ collection: String(name), document: JSON.parse(String(doc)) })),
    );
  } finally {
    db.close();
  }
}

async function makeOnMongo(url: string): Promise<TestStore> {
  const database = `api_${randomBytes(6).toString('hex')}`;
  const store = await openMongoStore({ url, database });
  return {
    store: withSchemaVersions(store),
    kind: 'mongo',
    rawBytes: () =>
      withClient(url, async (client) => {
        const pieces: Buffer[] = [];
        for (const { name } of await client.db(database).listCollections().toArray()) {
          const documents = client.db(database).collection(name).find({}, { raw: true });
          for await (const bytes of documents) pieces.push(bytes as unknown as Buffer);
        }
        return Buffer.concat(pieces);
      }),
    everyDocument: () =>
      withClient(url, async (client) => {
        const found: StoredDocument[] = [];
        for (const { name } of await client.db(database).listCollections().toArray()) {
          const documents = await client.db(database).collection(name).find({}).toArray();
          found.push(...documents.map((document) => ({ collection: name, document })));
        }
        return found;
      }),
    remove: async () => {
      await store.close();
      await withClient(url, (client) => client.db(database).dropDatabase());
    },
  };
}

async function withClient<T>(url: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(url);
  try {
    return await work(client);
  } finally {
    await client.close(true);
  }
}
