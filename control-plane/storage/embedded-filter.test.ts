import { Query } from 'mingo';
import { expect, test } from 'vitest';
import type { Filter } from './collection.ts';
import { openDatabase } from './embedded-engine.ts';
import { filterToSql } from './embedded-filter.ts';

type Doc = Record<string, unknown>;

const INDEXED = new Set(['_id', 'a', 'b', 'o.c']);

/** mulberry32: the same numbers on every machine. */
function generator(seed: number) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function randomCases(seed: number) {
  const random = generator(seed);
  const pick = <T>(values: readonly [T, ...T[]]): T =>
    values[Math.floor(random() * values.length)] ?? values[0];
  const scalar = () => pick([0, 1, 2, -1.5, 'x', 'y', '', '1', 'ünï', true, false, null]);
  const ordered = () => pick([0, 1, 2, -1.5, 'x', 'y', '', '1', 'ünï']);
  const document = (): Doc => ({
    ...(random() < 0.8 && { a: scalar() }),
    ...(random() < 0.8 && { b: scalar() }),
    ...(random() < 0.7 && { o: pick<unknown>([{ c: scalar() }, {}, { d: 1 }]) }),
    free: pick<unknown>([scalar(), [scalar(), scalar()]]),
  });
  const condition = () =>
    pick<() => unknown>([
      scalar,
      () => ({ $eq: scalar() }),
      () => ({ $ne: scalar() }),
      () => ({ $in: [scalar(), scalar()] }),
      () => ({ $nin: [scalar(), scalar()] }),
      () => ({ $in: [] }),
      () => ({ $in: ['x', 'odd\0'] }),
      () => ({ $ne: 'odd\0' }),
      () => ({ $nin: ['x', '\ud800'] }),
      () => ({ $exists: random() < 0.5 }),
      () => ({ $gt: ordered() }),
      () => ({ $gte: ordered(), $lt: ordered() }),
      () => ({ $lte: ordered(), $ne: scalar() }),
      () => /x|1/,
    ])();
  const filter = (depth = 0): Filter => {
    if (depth < 2 && random() < 0.4)
      return { [pick(['$and', '$or', '$nor'])]: [filter(depth + 1), filter(depth + 1)] } as Filter;
    return {
      [pick(['a', 'b', 'o.c', 'free'])]: condition(),
      ...(random() < 0.3 && { [pick(['a', 'b', 'o.c'])]: condition() }),
    } as Filter;
  };
  return { document, filter };
}

test('SQL keeps every document that matches, and only those when it says it is exact', () => {
  const { document, filter } = randomCases(7);
  const docs = Array.from({ length: 120 }, (_, i) => ({ _id: `d${i}`, ...document() }));
  const db = openDatabase(':memory:', 'NORMAL');
  db.exec('CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL)');
  for (const doc of docs) db.prepare('INSERT INTO t VALUES (?, ?)').run(doc._id, JSON.stringify(doc));
  let exactCount = 0;

  for (let i = 0; i < 1_500; i++) {
    const wanted = filter();
    const { sql, params, isExact } = filterToSql(wanted, INDEXED);
    const kept = db
      .prepare(`SELECT id FROM t WHERE ${sql} ORDER BY rowid`)
      .all(...params)
      .map(({ id }) => id);
    const query = new Query(wanted);
    const matching = docs.filter((doc) => query.test(doc)).map(({ _id }) => _id);
    if (isExact) exactCount += 1;
    const compared = isExact ? kept : kept.filter((id) => matching.includes(String(id)));
    expect(compared, JSON.stringify(wanted)).toEqual(matching);
  }
  db.close();

  expect(exactCount).toBeGreaterThan(300);
});

test('what stands on no indexed field says nothing and is not exact', () => {
  expect(filterToSql({ free: 1 }, INDEXED)).toEqual({ sql: '1', params: [], isExact: false });
  expect(filterToSql({ $or: [{ a: 1 }, { free: 1 }] }, INDEXED)).toMatchObject({ sql: '1', isExact: false });
  expect(filterToSql({ a: 'x', free: 1 }, INDEXED)).toEqual({
    sql: "(json_extract(doc, '$.a') = ?)",
    params: ['x'],
    isExact: false,
  });
});

test('text that SQLite can not read out of JSON as it is, is left to mingo', () => {
  expect(filterToSql({ a: 'x\0y' }, INDEXED)).toMatchObject({ sql: '1', isExact: false });
  expect(filterToSql({ a: { $in: ['x', '\ud800'] } }, INDEXED)).toMatchObject({ sql: '1', isExact: false });
});

test('values go in as parameters, never as text', () => {
  const { sql } = filterToSql({ a: `'; DROP TABLE t; --`, _id: { $in: [`'`] } }, INDEXED);
  expect(sql).not.toContain('DROP');
  expect(sql).not.toContain(`'''`);
});
