import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { StoreUnavailable } from '../../control-plane/storage/collection.ts';
import { openMongoStore } from '../../control-plane/storage/mongo-store.ts';
import { type MongoTestServer, startMongoServer } from '../support/mongo-server.ts';
import { collectionContract } from './collection-contract.ts';

// A mongod of one's own, when there is one: MONGO_URL=mongodb://127.0.0.1:27017/
const mongodUrl = process.env['MONGO_URL'];

/** The port's 2 s and something for a busy machine. */
const ANSWER_LIMIT_MS = 2_300;

async function openAt(url: string) {
  const store = await openMongoStore({ url, database: `contract_${randomBytes(6).toString('hex')}` });
  return { store, close: () => store.close() };
}

describe('a MongoDB-wire server', () => {
  let server: MongoTestServer;
  beforeAll(async () => {
    server = await startMongoServer();
  }, 200_000);
  afterAll(() => server?.stop());

  collectionContract(() => openAt(server.url), { updatesNull: true });
});

if (mongodUrl !== undefined) describe('mongod', () => collectionContract(() => openAt(mongodUrl)));

describe('a MongoDB-wire server that fails', () => {
  // Servers and clients end with their test, also when it fails.
  async function setUp(port?: number) {
    const server = await startMongoServer(port === undefined ? {} : { port });
    onTestFinished(() => server.stop());
    return server;
  }

  async function connect(url: string) {
    const { store } = await openAt(url);
    onTestFinished(() => store.close());
    return store;
  }

  /** How long `work` took to fail, and with what. */
  async function failure(work: Promise<unknown>) {
    const startMs = performance.now();
    const error = await work.then(
      () => null,
      (cause: unknown) => cause,
    );
    return { error, tookMs: performance.now() - startMs };
  }

  /** Tries `work` until it succeeds; how long that took. */
  async function recovery(work: () => Promise<unknown>, limitMs: number) {
    const startMs = performance.now();
    for (;;) {
      const { error } = await failure(work());
      const tookMs = performance.now() - startMs;
      if (error === null || tookMs > limitMs) return { error, tookMs };
      expect(error).toBeInstanceOf(StoreUnavailable);
    }
  }

  test('nobody listening is StoreUnavailable within 2 s', async () => {
    const server = await setUp();
    await server.stop();

    const { error, tookMs } = await failure(openAt(server.url));

    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(tookMs).toBeLessThan(ANSWER_LIMIT_MS);
  });

  test('after a kill every operation fails within 2 s, after a restart they work again', async () => {
    const first = await setUp();
    const store = await connect(first.url);
    const items = store.collection<{ _id: string }>('items');
    await items.insertOne({ _id: 'a' });
    await first.stop();

    const failures = await Promise.all([
      failure(items.findOne({ _id: 'a' })),
      failure(items.insertOne({ _id: 'b' })),
      failure(items.updateOne({ _id: 'a' }, { $set: { n: 1 } }, { upsert: true })),
      failure(store.ping()),
    ]);
    await setUp(first.port);
    const again = await recovery(() => items.insertOne({ _id: 'c' }), 10_000);

    for (const { error, tookMs } of failures) {
      expect(error).toBeInstanceOf(StoreUnavailable);
      expect(tookMs).toBeLessThan(ANSWER_LIMIT_MS);
    }
    expect(again.error).toBeNull();
  });

  test('a server that hangs fails every operation within 2 s and works again when it goes on', async () => {
    const server = await setUp();
    const store = await connect(server.url);
    const items = store.collection<{ _id: string }>('items');
    await items.insertOne({ _id: 'a' });
    server.pause();

    const failures = await Promise.all([
      failure(items.findOne({ _id: 'a' })),
      failure(items.countDocuments({})),
      failure(items.updateOne({ _id: 'a' }, { $set: { n: 1 } })),
      failure(store.ping()),
    ]);
    server.resume();
    const again = await recovery(() => items.findOne({ _id: 'a' }), 10_000);

    for (const { error, tookMs } of failures) {
      expect(error).toBeInstanceOf(StoreUnavailable);
      expect(tookMs).toBeLessThan(ANSWER_LIMIT_MS);
    }
    expect(again.error).toBeNull();
  });
});
