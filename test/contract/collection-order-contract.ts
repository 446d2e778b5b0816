import { expect, test } from 'vitest';
import { DuplicateKeyError, type Filter, InvalidOperation } from '../../control-plane/storage/collection.ts';
import { ids, numbered, type SetUp } from './collection-contract-setup.ts';

export function indexTests(setUp: SetUp): void {
  test('a unique index refuses a second equal value on insert, update, replace and upsert', async () => {
    const items = await setUp({ _id: 'a', key: 'k' }, { _id: 'b', key: 'l' });
    await items.createIndex({ key: 1 }, { unique: true });

    await expect(items.insertOne({ _id: 'c', key: 'k' })).rejects.toThrow(DuplicateKeyError);
    await expect(items.updateOne({ _id: 'b' }, { $set: { key: 'k' } })).rejects.toThrow(DuplicateKeyError);
    await expect(items.findOneAndUpdate({ _id: 'b' }, { $set: { key: 'k' } })).rejects.toThrow(
      DuplicateKeyError,
    );
    await expect(items.replaceOne({ _id: 'b' }, { _id: 'b', key: 'k' })).rejects.toThrow(DuplicateKeyError);
    await expect(items.updateOne({ _id: 'c' }, { $set: { key: 'k' } }, { upsert: true })).rejects.toThrow(
      DuplicateKeyError,
    );
    expect(await items.findOne({ _id: 'b' })).toEqual({ _id: 'b', key: 'l' });
    expect(await items.countDocuments({})).toBe(2);
  });

  test('a unique index over two fields looks at both', async () => {
    const items = await setUp({ _id: 'a', x: 1, y: 1 }, { _id: 'b', x: 1, y: 2 });
    await items.createIndex({ x: 1, y: 1 }, { unique: true });

    await items.insertOne({ _id: 'c', x: 2, y: 1 });
    await expect(items.insertOne({ _id: 'd', x: 1, y: 2 })).rejects.toThrow(DuplicateKeyError);
  });

  test('a unique index takes missing fields for equal', async () => {
    const items = await setUp({ _id: 'a' });
    await items.createIndex({ key: 1 }, { unique: true });

    await expect(items.insertOne({ _id: 'b' })).rejects.toThrow(DuplicateKeyError);
  });

  test('a sparse unique index leaves documents without the field out', async () => {
    const items = await setUp({ _id: 'a' }, { _id: 'b' });
    await items.createIndex({ key: 1 }, { unique: true, sparse: true });

    await items.insertOne({ _id: 'c' });
    await items.insertOne({ _id: 'd', key: 'k' });
    await expect(items.insertOne({ _id: 'e', key: 'k' })).rejects.toThrow(DuplicateKeyError);
    expect(ids(await items.find({ key: 'k' }))).toEqual(['d']);
  });

  test('a sparse unique index frees a value with its document, or when the field is unset', async () => {
    const items = await setUp({ _id: 'a', key: 'k' });
    await items.createIndex({ key: 1 }, { unique: true, sparse: true });

    await items.updateOne({ _id: 'a' }, { $unset: { key: '' } });
    await items.insertOne({ _id: 'b', key: 'k' });
    await items.deleteOne({ _id: 'b' });
    await items.insertOne({ _id: 'c', key: 'k' });

    expect(ids(await items.find({ key: 'k' }))).toEqual(['c']);
  });

  test('a unique index over values that are already double is refused', async () => {
    const items = await setUp({ _id: 'a', key: 'k' }, { _id: 'b', key: 'k' });

    await expect(items.createIndex({ key: 1 }, { unique: true })).rejects.toThrow(DuplicateKeyError);
  });

  test('createIndex is safe to call again', async () => {
    const items = await setUp({ _id: 'a', key: 'k' });

    for (let i = 0; i < 2; i++) await items.createIndex({ key: 1, 'o.p': -1 }, { unique: true });

    expect(ids(await items.find({ key: 'k' }))).toEqual(['a']);
  });
}

export function pagingTests(setUp: SetUp): void {
  test('a sort follows the index, forwards and in exact reverse', async () => {
    const items = await setUp(...numbered(30));
    await items.createIndex({ owner: 1, n: -1 });

    const forwards = await items.find({}, { sort: { owner: 1, n: -1 } });
    const reverse = await items.find({}, { sort: { owner: -1, n: 1 } });

    expect(forwards.slice(0, 3).map(({ n }) => n)).toEqual([27, 24, 21]);
    expect(forwards).toHaveLength(30);
    expect(ids(reverse)).toEqual(ids(forwards).reverse());
  });

  test('fields that the filter fixes may be left out of the sort', async () => {
    const items = await setUp(...numbered(30));
    await items.createIndex({ owner: 1, n: -1 });

    expect((await items.find({ owner: 'o1' }, { sort: { n: 1 }, limit: 3 })).map(({ n }) => n)).toEqual([
      1, 4, 7,
    ]);
    expect((await items.find({ owner: 'o1' }, { sort: { n: -1 }, limit: 3 })).map(({ n }) => n)).toEqual([
      28, 25, 22,
    ]);
  });

  test('a sort by _id needs no index, in both directions', async () => {
    const items = await setUp(...numbered(30));

    expect(ids(await items.find({ owner: 'o0' }, { sort: { _id: 1 }, limit: 2 }))).toEqual([
      'i0000',
      'i0003',
    ]);
    expect(ids(await items.find({ owner: 'o0' }, { sort: { _id: -1 }, limit: 2 }))).toEqual([
      'i0027',
      'i0024',
    ]);
  });

  test('missing and null come before numbers, numbers before text', async () => {
    const items = await setUp({ _id: 'a', v: 'x' }, { _id: 'b', v: 2 }, { _id: 'c' }, { _id: 'd', v: -1 });
    await items.createIndex({ v: 1 });

    expect(ids(await items.find({}, { sort: { v: 1 } }))).toEqual(['c', 'd', 'b', 'a']);
    expect(ids(await items.find({}, { sort: { v: -1 } }))).toEqual(['a', 'b', 'd', 'c']);
  });

  test.each([
    ['a filter that SQL can say', { owner: 'o1' }],
    ['one that it cannot', { owner: 'o1', _id: /^i/ }],
  ])('pages by skip and limit join without gap or overlap, also deep ones, on %s', async (_name, filter) => {
    const items = await setUp(...numbered(300));
    await items.createIndex({ owner: 1, n: -1 });

    const pages: number[] = [];
    for (let skip = 0; skip < 120; skip += 7) {
      const page = await items.find(filter, { sort: { n: -1 }, skip, limit: 7 });
      pages.push(...page.map(({ n }) => Number(n)));
    }

    expect(pages).toEqual(Array.from({ length: 100 }, (_, i) => 298 - 3 * i));
    expect(await items.countDocuments(filter)).toBe(100);
  });

  test('pages by the last row’s key join without gap or overlap where keys are equal', async () => {
    const docs = Array.from({ length: 60 }, (_, i) => ({ _id: `i${i}`, at: Math.floor(i / 7) }));
    const items = await setUp(...docs);
    await items.createIndex({ at: -1, _id: -1 });
    const sort = { at: -1, _id: -1 } as const;

    const seen: string[] = [];
    let filter: Filter = {};
    for (let page = await items.find(filter, { sort, limit: 4 }); page.length > 0; ) {
      seen.push(...ids(page));
      const last = page.at(-1);
      const at = Number(last?.['at']);
      filter = { at: { $lte: at }, $or: [{ at: { $lt: at } }, { at, _id: { $lt: last?._id ?? '' } }] };
      page = await items.find(filter, { sort, limit: 4 });
    }

    const inOrder = [...docs].sort((l, r) => r.at - l.at || (l._id < r._id ? 1 : -1));
    expect(seen).toEqual(ids(inOrder));
  });

  test('a limit below 1 and a negative skip are refused', async () => {
    const items = await setUp({ _id: 'a' });

    await expect(items.find({}, { limit: 0 })).rejects.toThrow(InvalidOperation);
    await expect(items.find({}, { skip: -1 })).rejects.toThrow(InvalidOperation);
  });
}

export function concurrencyTests(setUp: SetUp): void {
  const times = <R>(count: number, work: (i: number) => Promise<R>) =>
    Promise.all(Array.from({ length: count }, (_, i) => work(i)));

  test('40 increments at once add up to 40', async () => {
    const items = await setUp({ _id: 'a', n: 0 });

    await times(40, () => items.updateOne({ _id: 'a' }, { $inc: { n: 1 } }));

    expect(await items.findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 40 });
  });

  test('of 20 that compare and set the same version one wins', async () => {
    const items = await setUp({ _id: 'a', version: 1 });

    const answers = await times(20, (by) =>
      items.findOneAndUpdate({ _id: 'a', version: 1 }, { $set: { by }, $inc: { version: 1 } }),
    );

    const winners = answers.filter((doc) => doc !== null);
    expect(winners).toHaveLength(1);
    expect(await items.findOne({ _id: 'a' })).toEqual(winners[0]);
  });

  test('20 that claim from 12 due documents get 12 different ones', async () => {
    const items = await setUp(...Array.from({ length: 12 }, (_, i) => ({ _id: `d${i}`, due: i })));
    await items.createIndex({ due: 1 });

    const claimed = await times(20, () =>
      items.findOneAndUpdate({ due: { $lt: 100 } }, { $set: { due: 1_000 } }, { sort: { due: 1 } }),
    );

    const taken = claimed.flatMap((doc) => doc?._id ?? []);
    expect(taken).toHaveLength(12);
    expect(new Set(taken).size).toBe(12);
  });

  test('20 upserts of one key at once make one document', async () => {
    const items = await setUp();

    await times(20, () => items.updateOne({ _id: 'a' }, { $inc: { n: 1 } }, { upsert: true }));

    expect(await items.find({})).toEqual([{ _id: 'a', n: 20 }]);
  });

  test('of 20 inserts of one unique value one succeeds', async () => {
    const items = await setUp();
    await items.createIndex({ key: 1 }, { unique: true });

    const outcomes = await times(20, (i) =>
      items.insertOne({ _id: `i${i}`, key: 'k' }).then(
        () => 'in',
        (error: Error) => error.name,
      ),
    );

    expect(outcomes.filter((outcome) => outcome === 'in')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'DuplicateKeyError')).toHaveLength(19);
  });

  test('a balance that is only taken from when it suffices never goes below zero', async () => {
    const items = await setUp({ _id: 'a', balance: 100 });

    const taken = await times(30, () =>
      items.updateOne({ _id: 'a', balance: { $gte: 7 } }, { $inc: { balance: -7 } }),
    );

    expect(taken.reduce((sum, n) => sum + n, 0)).toBe(14);
    expect(await items.findOne({ _id: 'a' })).toEqual({ _id: 'a', balance: 2 });
  });
}
