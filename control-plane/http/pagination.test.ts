import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { deriveKey, parseKeyList } from '../../shared/secret-box.ts';
import type { Document } from '../storage/collection.ts';
import { openEmbeddedStore } from '../storage/embedded-store.ts';
import { createCursorSigner } from './cursor-signer.ts';
import { type PageQuery, paginate } from './pagination.ts';

interface Row extends Document {
  readonly owner: string;
  readonly atMs: number;
}

const newSigner = () => {
  const [key] = parseKeyList(randomBytes(32).toString('base64'));
  if (!key) throw new Error('no key');
  return createCursorSigner(deriveKey(key, 'test'));
};

/** `count` rows of one owner, three to each moment, among rows of another. */
async function setUp(count: number) {
  const store = openEmbeddedStore({ file: ':memory:', synchronous: 'NORMAL' });
  onTestFinished(() => store.close());
  const collection = store.collection<Row>('rows');
  await collection.createIndex({ owner: 1, atMs: 1, _id: 1 });
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const id = `r${String(i).padStart(4, '0')}`;
    ids.unshift(id);
    await collection.insertOne({ _id: id, owner: 'a', atMs: Math.floor(i / 3) });
    await collection.insertOne({ _id: `other-${id}`, owner: 'b', atMs: i });
  }
  const signer = newSigner();
  const page = (query: PageQuery, scope = 'rows:a') =>
    paginate({
      collection,
      filter: { owner: 'a' },
      sort: { owner: -1, atMs: -1, _id: -1 },
      query,
      signer,
      scope,
    });
  return { collection, ids, page, signer };
}

test('following the cursor gives every row once, newest first', async () => {
  const { ids, page } = await setUp(25);

  const seen: string[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const query: PageQuery = { page_size: 4, ...(cursor === null ? {} : { cursor }) };
    const { rows, next_cursor, has_more, total } = await page(query);
    seen.push(...rows.map((row) => row._id));
    expect(has_more).toBe(next_cursor !== null);
    expect(total).toBeNull();
    cursor = next_cursor;
    pages++;
  } while (cursor !== null);

  expect(seen).toEqual(ids);
  expect(pages).toBe(7);
});

test('rows that come while paging neither repeat nor shift what follows', async () => {
  const { collection, ids, page } = await setUp(10);
  const first = await page({ page_size: 5 });

  await collection.insertOne({ _id: 'zz', owner: 'a', atMs: 99 });
  const second = await page({ page_size: 5, cursor: first.next_cursor ?? '' });

  expect(second.rows.map((row) => row._id)).toEqual(ids.slice(5));
});

test('page style counts and still gives the next cursor', async () => {
  const { ids, page } = await setUp(10);

  const second = await page({ page: 2, page_size: 4 });

  expect(second.rows.map((row) => row._id)).toEqual(ids.slice(4, 8));
  expect(second).toMatchObject({ total: 10, has_more: true });
  const third = await page({ page_size: 4, cursor: second.next_cursor ?? '' });
  expect(third.rows.map((row) => row._id)).toEqual(ids.slice(8));
});

test('cursor style counts when asked', async () => {
  const { page } = await setUp(10);

  expect((await page({ page_size: 4, include_total: true })).total).toBe(10);
});

test('a page past the end is empty', async () => {
  const { page } = await setUp(3);

  expect(await page({ page: 9, page_size: 4 })).toEqual({
    rows: [],
    has_more: false,
    next_cursor: null,
    total: 3,
  });
});

test('without a size a page has 30 rows', async () => {
  const { page } = await setUp(35);

  expect((await page({})).rows).toHaveLength(30);
});

test('page with cursor is 400', async () => {
  const { page } = await setUp(5);
  const { next_cursor } = await page({ page_size: 2 });

  await expect(page({ page: 1, cursor: next_cursor ?? '' })).rejects.toMatchObject({ status: 400 });
});

test('an offset past 100,000 rows is 400, one of exactly that many is not', async () => {
  const { page } = await setUp(1);

  await expect(page({ page: 1002, page_size: 100 })).rejects.toMatchObject({ status: 400 });
  expect((await page({ page: 1001, page_size: 100 })).rows).toEqual([]);
});

test('a cursor that was changed, cut, made up, or is of another list is 400', async () => {
  const { page } = await setUp(5);
  const { next_cursor } = await page({ page_size: 2 });
  const good = next_cursor ?? '';
  const bytes = Buffer.from(good, 'base64url');
  const flipped = Array.from(bytes, (_byte, at) => {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    return changed.toString('base64url');
  });

  for (const cursor of [
    '',
    'x',
    'null',
    '%%%',
    good.slice(0, -4),
    `${good}AAAA`,
    newSigner().sign('rows:a', [1, 'x']),
    ...flipped,
  ]) {
    await expect(page({ cursor })).rejects.toMatchObject({ status: 400, message: 'Cursor is not valid' });
  }
  await expect(page({ cursor: good }, 'rows:b')).rejects.toMatchObject({ status: 400 });
  expect((await page({ cursor: good })).rows).toHaveLength(3);
});
