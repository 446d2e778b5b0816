import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../control-plane/storage/collection.ts';
import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';
import { openMongoStore } from '../../control-plane/storage/mongo-store.ts';
import { startMongoServer } from '../support/mongo-server.ts';

export type StoreKind = 'embedded' | 'mongo';

/** How another process opens a store. */
export type StoreAddress =
  | { readonly kind: 'embedded'; readonly file: string }
  | { readonly kind: 'mongo'; readonly url: string; readonly database: string };

export function openBenchStore(address: StoreAddress): Promise<Store> {
  return address.kind === 'mongo'
    ? openMongoStore(address)
    : Promise.resolve(openEmbeddedStore({ file: address.file, synchronous: 'FULL' }));
}

/** Somewhere to keep a store: a directory, or a MongoDB-wire server with a new database. */
export async function prepareBenchStore(kind: StoreKind) {
  if (kind === 'embedded') {
    const directory = await mkdtemp(join(tmpdir(), 'parley-bench-'));
    const address: StoreAddress = { kind, file: join(directory, 'parley.db') };
    return { address, remove: () => rm(directory, { recursive: true, force: true }) };
  }
  const server = await startMongoServer();
  const database = `bench_${randomBytes(6).toString('hex')}`;
  const address: StoreAddress = { kind, url: server.url, database };
  return { address, remove: () => server.stop() };
}
