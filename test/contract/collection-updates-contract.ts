import { expect, test } from 'vitest';
import { InvalidOperation, type Update } from '../../control-plane/storage/collection.ts';
import type { KnownLeniencies, SetUp } from './collection-contract-setup.ts';

const UPDATED: readonly [name: string, before: object, update: Update, after: object][] = [
  ['$set writes a field', { x: 1 }, { $set: { x: 'new' } }, { x: 'new' }],
  [
    '$set on a dotted path keeps its neighbours',
    { o: { p: 1, q: 2 } },
    { $set: { 'o.p': 9 } },
    { o: { p: 9, q: 2 } },
  ],
  ['$set makes the way to a dotted path', {}, { $set: { 'o.p.q': 1 } }, { o: { p: { q: 1 } } }],
  [
    '$set on an element of a list',
    { l: [{ s: 1 }, { s: 2 }] },
    { $set: { 'l.1.s': 9 } },
    { l: [{ s: 1 }, { s: 9 }] },
  ],
  ['$set replaces an object whole', { o: { p: 1, q: 2 } }, { $set: { o: { r: 3 } } }, { o: { r: 3 } }],
  ['$unset takes a field away', { x: 1, y: 2 }, { $unset: { x: '' } }, { y: 2 }],
  ['$unset on a dotted path', { o: { p: 1, q: 2 } }, { $unset: { 'o.p': '' } }, { o: { q: 2 } }],
  ['$unset of a missing path does nothing', { x: 1 }, { $unset: { 'o.p': '' } }, { x: 1 }],
  ['$inc adds', { n: 5 }, { $inc: { n: -7 } }, { n: -2 }],
  ['$inc starts at 0', {}, { $inc: { n: 3, 'o.n': 1 } }, { n: 3, o: { n: 1 } }],
  ['$push appends', { l: [1] }, { $push: { l: { a: 1 } } }, { l: [1, { a: 1 }] }],
  ['$push starts a list', {}, { $push: { 'o.l': 1 } }, { o: { l: [1] } }],
  ['$push puts a list in as one element', { l: [] }, { $push: { l: [1, 2] } }, { l: [[1, 2]] }],
  ['$push with $each appends all', { l: [1] }, { $push: { l: { $each: [2, 3] } } }, { l: [1, 2, 3] }],
  [
    '$addToSet leaves members alone',
    { l: [1, { a: 1 }] },
    { $addToSet: { l: { a: 1 } } },
    { l: [1, { a: 1 }] },
  ],
  ['$addToSet adds others', { l: [1] }, { $addToSet: { l: { $each: [1, 2] } } }, { l: [1, 2] }],
  ['$addToSet starts a list', {}, { $addToSet: { l: 'x' } }, { l: ['x'] }],
  ['$pull takes equal scalars out', { l: [1, 2, 1] }, { $pull: { l: 1 } }, { l: [2] }],
  ['$pull by comparison', { l: [1, 5, 9] }, { $pull: { l: { $gte: 5 } } }, { l: [1] }],
  ['$pull by list', { l: ['a', 'b', 'c'] }, { $pull: { l: { $in: ['a', 'c'] } } }, { l: ['b'] }],
  ['$pull by fields', { l: [{ k: 1, z: 1 }, { k: 2 }] }, { $pull: { l: { k: 1 } } }, { l: [{ k: 2 }] }],
  ['$pull of a missing list does nothing', {}, { $pull: { l: 1 } }, {}],
  ['$max raises', { n: 1, m: 9 }, { $max: { n: 5, m: 5 } }, { n: 5, m: 9 }],
  ['$min lowers', { n: 1, m: 9 }, { $min: { n: 5, m: 5 } }, { n: 1, m: 5 }],
  ['$max and $min set what is missing', {}, { $max: { a: 1 }, $min: { b: 'x' } }, { a: 1, b: 'x' }],
  ['$max orders text', { s: 'b' }, { $max: { s: 'c' } }, { s: 'c' }],
  [
    '$setOnInsert does nothing to what is there',
    { x: 1 },
    { $setOnInsert: { y: 1 }, $inc: { x: 1 } },
    { x: 2 },
  ],
  [
    'operators on different paths work together',
    { n: 1, l: [], gone: 1 },
    { $set: { s: 'x' }, $inc: { n: 1 }, $push: { l: 'y' }, $unset: { gone: '' } },
    { n: 2, l: ['y'], s: 'x' },
  ],
];

export function updateTests(setUp: SetUp): void {
  test.each(UPDATED)('%s', async (_name, before, update, after) => {
    const items = await setUp({ _id: 'a', ...before }, { _id: 'b', ...before });

    expect(await items.updateOne({ _id: 'a' }, update)).toBe(1);
    expect(await items.findOne({ _id: 'a' })).toEqual({ _id: 'a', ...after });
    expect(await items.findOneAndUpdate({ _id: 'b' }, update)).toEqual({ _id: 'b', ...after });
  });

  test('an update that matches nothing answers 0 and null', async () => {
    const items = await setUp({ _id: 'a', v: 1 });

    expect(await items.updateOne({ _id: 'a', v: 2 }, { $set: { v: 3 } })).toBe(0);
    expect(await items.findOneAndUpdate({ _id: 'a', v: 2 }, { $set: { v: 3 } })).toBeNull();
    expect(await items.findOne({ _id: 'a' })).toEqual({ _id: 'a', v: 1 });
  });

  test('an update changes one document, however many match', async () => {
    const items = await setUp({ _id: 'a', k: 1, n: 0 }, { _id: 'b', k: 1, n: 0 });

    await items.updateOne({ k: 1 }, { $inc: { n: 1 } });

    expect(await items.countDocuments({ n: 1 })).toBe(1);
  });

  test('findOneAndUpdate with a sort takes the first in that order', async () => {
    const items = await setUp({ _id: 'a', due: 3 }, { _id: 'b', due: 1 }, { _id: 'c', due: 2 });
    await items.createIndex({ due: 1 });

    const claim = () =>
      items.findOneAndUpdate({ due: { $lte: 2 } }, { $unset: { due: '' } }, { sort: { due: 1 } });

    expect([await claim(), await claim(), await claim()].map((doc) => doc?._id)).toEqual([
      'b',
      'c',
      undefined,
    ]);
  });
}

const REFUSED: readonly [name: string, update: unknown][] = [
  ['$inc on text', { $inc: { text: 1 } }],
  ['$inc by text', { $inc: { n: '1' } }],
  ['$push onto text', { $push: { text: 1 } }],
  ['$push onto an object', { $push: { o: 1 } }],
  ['$addToSet onto a number', { $addToSet: { n: 1 } }],
  ['$pull from text', { $pull: { text: 1 } }],
  ['a path through a scalar', { $set: { 'n.deeper': 1 } }],
  ['a named field of a list', { $set: { 'list.name': 1 } }],
  ['a change of _id', { $set: { _id: 'b' } }],
  ['the same path twice', { $set: { n: 1 }, $inc: { n: 1 } }],
  ['a path and one below it', { $set: { o: {} }, $inc: { 'o.n': 1 } }],
  ['an unknown operator', { $rename: { n: 'm' } }],
  ['a positional path', { $set: { 'list.$': 1 } }],
  ['a path to the prototype', { $set: { '__proto__.polluted': 1 } }],
  ['an undefined value', { $set: { n: undefined } }],
  ['nothing in it', {}],
  ['a bare document', { n: 1 }],
];

const REFUSED_ON_NULL: readonly [name: string, update: unknown][] = [
  ['$inc on null', { $inc: { nothing: 1 } }],
  ['a path through null', { $set: { 'nothing.deeper': 1 } }],
];

export function refusalTests(setUp: SetUp, leniencies: KnownLeniencies): void {
  const refused = leniencies.updatesNull ? REFUSED : [...REFUSED, ...REFUSED_ON_NULL];
  test.each(refused)('%s is refused and changes nothing', async (_name, update) => {
    const doc = { _id: 'a', text: 'x', nothing: null, n: 1, list: [1], o: { n: 1 } };
    const items = await setUp(doc);
    await expect(items.updateOne({ _id: 'a' }, update as Update)).rejects.toThrow(InvalidOperation);
    await expect(items.findOneAndUpdate({ _id: 'a' }, update as Update)).rejects.toThrow(InvalidOperation);
    expect(await items.findOne({ _id: 'a' })).toEqual(doc);
  });

  test('of an update that is refused in one operator nothing is done', async () => {
    const doc = { _id: 'a', n: 1, text: 'x' };
    const items = await setUp(doc);

    await expect(
      items.updateOne({ _id: 'a' }, { $set: { fresh: 1 }, $inc: { text: 1 }, $max: { n: 9 } }),
    ).rejects.toThrow(InvalidOperation);
    expect(await items.findOne({ _id: 'a' })).toEqual(doc);
  });
}

export function upsertTests(setUp: SetUp): void {
  test('an upsert inserts the filter’s equalities, $setOnInsert and the update', async () => {
    const items = await setUp();

    const doc = await items.findOneAndUpdate(
      { _id: 'a', kind: { $eq: 'x' }, n: { $gt: 5 }, 'o.p': 1 },
      { $setOnInsert: { created: 7 }, $inc: { count: 1 }, $push: { l: 'e' } },
      { upsert: true },
    );

    const expected = { _id: 'a', kind: 'x', o: { p: 1 }, created: 7, count: 1, l: ['e'] };
    expect(doc).toEqual(expected);
    expect(await items.findOne({ _id: 'a' })).toEqual(expected);
  });

  test('an upsert that finds its document updates it and leaves $setOnInsert alone', async () => {
    const items = await setUp({ _id: 'a', count: 1, created: 1 });

    await items.updateOne(
      { _id: 'a' },
      { $setOnInsert: { created: 7 }, $inc: { count: 1 } },
      { upsert: true },
    );

    expect(await items.find({})).toEqual([{ _id: 'a', count: 2, created: 1 }]);
  });

  test('updateOne answers 0 for what it inserted', async () => {
    const items = await setUp();

    expect(await items.updateOne({ _id: 'a' }, { $set: { n: 1 } }, { upsert: true })).toBe(0);
    expect(await items.findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 1 });
  });

  test('the _id may come from $setOnInsert, and has to come from somewhere', async () => {
    const items = await setUp();

    await items.updateOne({ key: 'k' }, { $setOnInsert: { _id: 'a' } }, { upsert: true });

    expect(await items.find({})).toEqual([{ _id: 'a', key: 'k' }]);
    await expect(items.updateOne({ key: 'l' }, { $set: { n: 1 } }, { upsert: true })).rejects.toThrow(
      InvalidOperation,
    );
  });
}
