import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { InvalidOperation, type Store, StoreUnavailable } from './collection.ts';
import { openDatabase } from './embedded-engine.ts';
import { openEmbeddedStore } from './embedded-store.ts';

interface Item {
  readonly _id: string;
  readonly [field: string]: unknown;
}

function setUp(clock?: FakeClock) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-embedded-'));
  const file = join(folder, 'deep', 'store.db');
  const stores: Store[] = [];
  const open = () => {
    const store = openEmbeddedStore(clock ? { file, clock } : { file });
    stores.push(store);
    return store;
  };
  onTestFinished(async () => {
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true });
  });
  return { folder, file, open };
}

test('documents and indexes are there when the file is opened again', async () => {
  const { open } = setUp();
  const first = open();
  const items = first.collection<Item>('items');
  await items.createIndex({ owner: 1, at: -1 });
  await items.insertOne({ _id: 'a', owner: 'o', at: 1 });
  await items.insertOne({ _id: 'b', owner: 'o', at: 2 });
  await first.close();

  const again = open().collection<Item>('items');

  expect((await again.find({ owner: 'o' }, { sort: { at: -1 } })).map(({ _id }) => _id)).toEqual(['b', 'a']);
  await expect(again.insertOne({ _id: 'c', owner: ['o'] })).rejects.toThrow(InvalidOperation);
});

test('two connections to one file see each other’s writes and lose none', async () => {
  const { open } = setUp();
  const left = open().collection<Item>('items');
  const right = open().collection<Item>('items');
  await left.insertOne({ _id: 'a', n: 0 });

  await Promise.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 ? left : right).updateOne({ _id: 'a' }, { $inc: { n: 1 } })),
  );

  expect(await right.findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 40 });
});

test('a write waits for another process’s lock and throws StoreUnavailable after 1.5 s', async () => {
  const clock = new FakeClock();
  const { file, open } = setUp(clock);
  const items = open().collection<Item>('items');
  await items.insertOne({ _id: 'a' });
  const other = openDatabase(file, 'NORMAL');
  other.exec('BEGIN IMMEDIATE');

  const waiting = items.insertOne({ _id: 'b' });
  await clock.advance(20);
  other.exec('COMMIT');
  await clock.advance(20);
  await expect(waiting).resolves.toBeUndefined();

  other.exec('BEGIN IMMEDIATE');
  const startMs = clock.nowMs();
  const gaveUpAfter = items.insertOne({ _id: 'c' }).catch((error) => [error, clock.nowMs() - startMs]);
  expect(await items.findOne({ _id: 'b' })).toEqual({ _id: 'b' });
  await clock.advance(2_000);
  const [error, tookMs] = (await gaveUpAfter) as [unknown, number];
  other.exec('COMMIT');
  other.close();

  expect(error).toBeInstanceOf(StoreUnavailable);
  expect(tookMs).toBeLessThanOrEqual(1_510);
});

test('a sort that no index has is refused', async () => {
  const { open } = setUp();
  const items = open().collection<Item>('items');
  await items.createIndex({ owner: 1, at: -1 });

  await expect(items.find({}, { sort: { at: -1 } })).rejects.toThrow(InvalidOperation);
  await expect(items.find({ owner: 'o' }, { sort: { at: 1, owner: 1 } })).rejects.toThrow(InvalidOperation);
  await expect(items.find({}, { sort: { owner: 1, at: 1 } })).rejects.toThrow(InvalidOperation);
  await expect(items.find({ owner: { $gt: 'o' } }, { sort: { at: 1 } })).rejects.toThrow(InvalidOperation);
});

test.each([
  ['a list', { owner: ['x'] }],
  ['an object', { owner: { x: 1 } }],
  ['text with NUL', { owner: 'x\0' }],
  ['a list on the way', { at: [{ ms: 1 }] }],
])('an indexed field never holds %s', async (_name, fields) => {
  const { open } = setUp();
  const items = open().collection<Item>('items');
  await items.createIndex({ owner: 1 });
  await items.createIndex({ 'at.ms': 1 });
  await items.insertOne({ _id: 'a' });

  await expect(items.insertOne({ _id: 'b', ...fields })).rejects.toThrow(InvalidOperation);
  await expect(items.updateOne({ _id: 'a' }, { $set: fields })).rejects.toThrow(InvalidOperation);
  expect(await items.find({})).toEqual([{ _id: 'a' }]);
});

test('an index over a field that already holds lists is refused', async () => {
  const { open } = setUp();
  const items = open().collection<Item>('items');
  await items.insertOne({ _id: 'a', tags: ['x'] });

  await expect(items.createIndex({ tags: 1 })).rejects.toThrow(InvalidOperation);
  expect(await items.find({ tags: 'x' })).toHaveLength(1);
});

test('the file and its journal are readable by their owner only', async () => {
  const { file, open } = setUp();
  await open().collection<Item>('items').insertOne({ _id: 'a' });

  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(`${file}-wal`).mode & 0o777).toBe(0o600);
});

test('a file that is no database is refused at once', () => {
  const { folder } = setUp();
  const file = join(folder, 'letter.txt');
  writeFileSync(file, 'Dear reader, this is not a database. '.repeat(100));

  expect(() => openEmbeddedStore({ file })).toThrow(/not a database/);
});

test('a collection name that could break out of its quotes is refused', () => {
  const { open } = setUp();
  expect(() => open().collection('items"; DROP TABLE x; --')).toThrow(InvalidOperation);
});
