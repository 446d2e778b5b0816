import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  DuplicateKeyError,
  type Filter,
  InvalidOperation,
  type SortOrder,
  type Store,
  StoreUnavailable,
} from '../../control-plane/storage/collection.ts';
import { type Item, ids, type KnownLeniencies, numbered, type SetUp } from './collection-contract-setup.ts';
import { concurrencyTests, indexTests, pagingTests } from './collection-order-contract.ts';
import { refusalTests, updateTests, upsertTests } from './collection-updates-contract.ts';

/** Opens a store of its own; `close` ends it and removes what it left. */
type OpenStore = () => Promise<{ store: Store; close(): Promise<void> }>;

/** Every promise of the storage port, as tests. The same for each implementation. */
export function collectionContract(open: OpenStore, leniencies: KnownLeniencies = {}): void {
  let opened: { store: Store; close(): Promise<void> };
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.close());

  /** A collection of its own, holding `docs`. */
  const setUp: SetUp = async (...docs) => {
    const items = opened.store.collection<Item>(`items_${randomBytes(6).toString('hex')}`);
    for (const doc of docs) await items.insertOne(doc);
    return items;
  };

  describe('documents', () => documentTests(setUp));
  describe('filters', () => filterTests(setUp));
  describe('updates', () => updateTests(setUp));
  describe('refused updates', () => refusalTests(setUp, leniencies));
  describe('upserts', () => upsertTests(setUp));
  describe('indexes', () => indexTests(setUp));
  describe('order and pages', () => pagingTests(setUp));
  describe('concurrency', () => concurrencyTests(setUp));

  test('a store answers a ping', async () => {
    await expect(opened.store.ping()).resolves.toBeUndefined();
  });

  test('two handles of one collection see the same documents', async () => {
    const name = `items_${randomBytes(6).toString('hex')}`;
    await opened.store.collection<Item>(name).insertOne({ _id: 'a' });

    expect(await opened.store.collection<Item>(name).findOne({ _id: 'a' })).toEqual({ _id: 'a' });
  });

  // Last of all: it ends the store.
  test('a closed store throws StoreUnavailable, and closes again without an error', async () => {
    const { store, close } = await open();
    const items = store.collection<Item>('items');
    await store.close();

    await expect(items.findOne({ _id: 'a' })).rejects.toThrow(StoreUnavailable);
    await expect(items.insertOne({ _id: 'a' })).rejects.toThrow(StoreUnavailable);
    await expect(store.ping()).rejects.toThrow(StoreUnavailable);
    await expect(store.close()).resolves.toBeUndefined();
    await close();
  });
}

function documentTests(setUp: SetUp): void {
  test('a document comes back as it went in', async () => {
    const doc = {
      _id: 'a',
      text: 'Grüße, 世界 🎧 "quoted" \\ \n',
      numbers: [0, -1, 1.5, 1e21, 2 ** 40, Number.MAX_SAFE_INTEGER],
      nothing: null,
      flags: [true, false],
      nested: { list: [{ deep: { empty: {} } }, []] },
    };
    const items = await setUp(doc);

    expect(await items.findOne({ _id: 'a' })).toEqual(doc);
  });

  test('keys with dollars and dots inside values are kept, as JSON Schemas need', async () => {
    const doc = { _id: 'a', schema: { properties: { 'a.b': { $ref: '#/x' } } } };
    const items = await setUp(doc);

    expect(await items.findOne({ _id: 'a' })).toEqual(doc);
  });

  test('undefined fields are left out', async () => {
    const items = await setUp({ _id: 'a', gone: undefined, inner: { gone: undefined, kept: 1 } });

    const doc = await items.findOne({ _id: 'a' });

    expect(Object.keys(doc ?? {})).toEqual(['_id', 'inner']);
    expect(Object.keys((doc?.['inner'] as object) ?? {})).toEqual(['kept']);
  });

  test('a second document of the same _id is a duplicate, and the first stays', async () => {
    const items = await setUp({ _id: 'a', n: 1 });

    await expect(items.insertOne({ _id: 'a', n: 2 })).rejects.toThrow(DuplicateKeyError);
    expect(await items.findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 1 });
  });

  test('inserting does not change or keep hold of the caller’s document', async () => {
    const doc = { _id: 'a', list: [1] };
    const items = await setUp(doc);
    doc.list.push(2);

    expect(await items.findOne({ _id: 'a' })).toEqual({ _id: 'a', list: [1] });
  });

  test('findOne answers null when nothing matches', async () => {
    const items = await setUp({ _id: 'a' });
    expect(await items.findOne({ _id: 'b' })).toBeNull();
  });

  test('replaceOne replaces all but _id and answers how many matched', async () => {
    const items = await setUp({ _id: 'a', old: 1 });

    expect(await items.replaceOne({ _id: 'a', old: 1 }, { _id: 'a', fresh: 2 })).toBe(1);
    expect(await items.replaceOne({ _id: 'a', old: 1 }, { _id: 'a', fresh: 3 })).toBe(0);
    expect(await items.findOne({ _id: 'a' })).toEqual({ _id: 'a', fresh: 2 });
    await expect(items.replaceOne({ _id: 'a' }, { _id: 'b' })).rejects.toThrow(InvalidOperation);
  });

  test('deleteOne removes one, deleteMany all that match; both answer how many', async () => {
    const items = await setUp({ _id: 'a', k: 1 }, { _id: 'b', k: 1 }, { _id: 'c', k: 1 }, { _id: 'd', k: 2 });

    expect(await items.deleteOne({ k: 1 })).toBe(1);
    expect(await items.deleteMany({ k: 1 })).toBe(2);
    expect(await items.deleteOne({ k: 1 })).toBe(0);
    expect(ids(await items.find({}))).toEqual(['d']);
  });

  test('deleteMany removes more than one batch', async () => {
    const items = await setUp(...numbered(1_050));

    expect(await items.deleteMany({ n: { $gte: 20 } })).toBe(1_030);
    expect(await items.countDocuments({})).toBe(20);
  });

  test('a document without a string _id is refused', async () => {
    const items = await setUp();
    await expect(items.insertOne({} as Item)).rejects.toThrow(InvalidOperation);
  });
}

/** Each case is run without and with an index on the fields it names. */
const FILTERS: readonly [name: string, filter: Filter, matching: string[]][] = [
  ['everything', {}, ['a', 'b', 'c', 'd', 'e']],
  ['equal text', { s: 'x' }, ['a', 'b']],
  ['equal number, not the boolean of like value', { n: 1 }, ['a']],
  ['equal boolean, not the number of like value', { n: true }, ['d']],
  ['null matches missing as well', { s: null }, ['d', 'e']],
  ['$eq', { s: { $eq: 'x' } }, ['a', 'b']],
  ['$ne matches missing as well', { s: { $ne: 'x' } }, ['c', 'd', 'e']],
  ['$ne null', { s: { $ne: null } }, ['a', 'b', 'c']],
  ['$gt and $lte on numbers', { n: { $gt: 1, $lte: 3 } }, ['b', 'c']],
  ['$gte and $lt on numbers', { n: { $gte: 1, $lt: 3 } }, ['a', 'b']],
  ['comparisons stay within one type', { n: { $lt: 'z' } }, ['e']],
  ['$gt on text', { s: { $gt: 'x' } }, ['c']],
  ['$in', { s: { $in: ['x', 'nowhere'] } }, ['a', 'b']],
  ['$in with several types', { n: { $in: [2, 'text', true] } }, ['b', 'd', 'e']],
  ['$in with null', { s: { $in: [null, 'y'] } }, ['c', 'd', 'e']],
  ['$in of nothing', { s: { $in: [] } }, []],
  ['$nin', { s: { $nin: ['x'] } }, ['c', 'd', 'e']],
  ['$nin of nothing', { s: { $nin: [] } }, ['a', 'b', 'c', 'd', 'e']],
  ['$exists sees a null', { s: { $exists: true } }, ['a', 'b', 'c', 'd']],
  ['$exists false', { s: { $exists: false } }, ['e']],
  ['a regular expression', { s: /^[yz]/ }, ['c']],
  ['a dotted path', { 'o.p': 'deep' }, ['b']],
  ['a dotted path and a number', { 'o.q': { $gte: 7 } }, ['c']],
  ['several fields', { s: 'x', n: 2 }, ['b']],
  ['$and', { $and: [{ s: 'x' }, { n: { $gt: 1 } }] }, ['b']],
  ['$or', { $or: [{ s: 'y' }, { n: 1 }] }, ['a', 'c']],
  ['$or with an open branch', { $or: [{ s: 'y' }, { list: 'red' }] }, ['a', 'c']],
  ['$nor', { $nor: [{ s: 'x' }, { n: 3 }] }, ['d', 'e']],
  ['an element of a list', { list: 'red' }, ['a']],
  ['a field of elements', { 'rows.k': 2 }, ['b', 'c']],
  ['$elemMatch wants one element to meet all', { rows: { $elemMatch: { k: 2, v: { $gt: 5 } } } }, ['c']],
  ['$elemMatch on scalars', { marks: { $elemMatch: { $gt: 4, $lt: 6 } } }, ['d']],
  ['_id', { _id: 'c' }, ['c']],
  ['_id in a list', { _id: { $in: ['a', 'e', 'z'] } }, ['a', 'e']],
  ['_id in a range', { _id: { $gt: 'b', $lte: 'd' } }, ['c', 'd']],
];

const FILTER_DOCS: readonly Item[] = [
  { _id: 'a', s: 'x', n: 1, list: ['red', 'blue'] },
  {
    _id: 'b',
    s: 'x',
    n: 2,
    o: { p: 'deep' },
    rows: [
      { k: 2, v: 1 },
      { k: 3, v: 9 },
    ],
  },
  { _id: 'c', s: 'y', n: 3, o: { q: 7 }, rows: [{ k: 2, v: 9 }] },
  { _id: 'd', s: null, n: true, marks: [1, 5] },
  { _id: 'e', n: 'text', marks: [1, 9] },
];

function filterTests(setUp: SetUp): void {
  const variants: readonly [string, readonly SortOrder[]][] = [
    ['without an index', []],
    ['with indexes', [{ s: 1 }, { n: -1 }, { 'o.p': 1 }, { 'o.q': 1, s: 1 }]],
  ];
  for (const [variant, indexes] of variants) {
    test(`find, findOne and countDocuments agree on every operator ${variant}`, async () => {
      const items = await setUp(...FILTER_DOCS);
      for (const index of indexes) await items.createIndex(index);

      for (const [name, filter, matching] of FILTERS) {
        expect(ids(await items.find(filter)).sort(), name).toEqual(matching);
        expect(await items.countDocuments(filter), name).toBe(matching.length);
        expect(ids(await items.find(filter, { sort: { _id: 1 }, skip: 1, limit: 2 })), name).toEqual(
          matching.slice(1, 3),
        );
        expect((await items.findOne(filter)) !== null, name).toBe(matching.length > 0);
      }
    });
  }

  const foreign: readonly [string, unknown][] = [
    ['an undefined condition, which would widen it', { s: undefined }],
    ['an undefined operand', { s: { $eq: undefined } }],
    ['an empty condition', { s: {} }],
    ['a list as condition', { s: ['x'] }],
    ['an unknown operator', { s: { $size: 1 } }],
    ['an unknown operator at the top', { $where: 'true' }],
    ['an empty $or', { $or: [] }],
    ['an undefined condition under $or', { $or: [{ s: undefined }] }],
    ['an undefined condition under $elemMatch', { rows: { $elemMatch: { k: undefined } } }],
  ];
  test.each(foreign)('a filter with %s is refused', async (_name, filter) => {
    const items = await setUp(...FILTER_DOCS);

    await expect(items.find(filter as Filter)).rejects.toThrow(InvalidOperation);
    await expect(items.deleteMany(filter as Filter)).rejects.toThrow(InvalidOperation);
    expect(await items.countDocuments({})).toBe(5);
  });
}
