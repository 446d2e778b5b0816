import { expect, test } from 'vitest';
import type { Filter, FindOptions, IndexOptions, SortOrder } from './collection.ts';
import { openDatabase } from './embedded-engine.ts';
import { createIndexSql, defineIndex } from './embedded-index.ts';
import { selectSql } from './embedded-select.ts';

/** How SQLite would run what the store asks it. */
function plan(
  orders: readonly SortOrder[],
  filter: Filter,
  options: FindOptions,
  indexOptions: IndexOptions = {},
): string {
  const indexes = orders.map((order) => defineIndex('t', order, indexOptions));
  const indexedPaths = new Set(['_id', ...orders.flatMap((order) => Object.keys(order))]);
  const db = openDatabase(':memory:', 'NORMAL');
  db.exec('CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL)');
  for (const sql of indexes.flatMap((index) => createIndexSql('t', index))) db.exec(sql);
  const { sql, params } = selectSql({ name: 't', indexes, indexedPaths }, filter, options);
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...params);
  db.close();
  return rows.map(({ detail }) => detail).join('; ');
}

const BY_TIME = { owner: 1, at: -1, _id: -1 } as const;

test('a page of one owner is read straight from the index', () => {
  expect(plan([BY_TIME], { owner: 'o' }, { sort: { at: -1, _id: -1 }, limit: 20 })).toBe(
    'SEARCH t USING INDEX t|owner:1,at:-1,_id:-1| (<expr>=?)',
  );
});

test('a page after a key seeks to the key, also where other indexes would serve the filter', () => {
  const filter = { owner: 'o', at: { $lte: 5 }, $or: [{ at: { $lt: 5 } }, { at: 5, _id: { $lt: 'x' } }] };

  expect(plan([{ at: 1 }, BY_TIME, { owner: 1 }], filter, { sort: { at: -1, _id: -1 } })).toBe(
    'SEARCH t USING INDEX t|owner:1,at:-1,_id:-1| (<expr>=? AND <expr><?)',
  );
});

test('the same page without the bound that lets it seek still comes in order from the index', () => {
  const filter = { owner: 'o', $or: [{ at: { $lt: 5 } }, { at: 5, _id: { $lt: 'x' } }] };

  expect(plan([{ at: 1 }, BY_TIME, { owner: 1 }], filter, { sort: { at: -1, _id: -1 } })).toBe(
    'SEARCH t USING INDEX t|owner:1,at:-1,_id:-1| (<expr>=?)',
  );
});

test('an order backwards through an index needs no sorting', () => {
  expect(plan([BY_TIME], {}, { sort: { owner: -1, at: 1, _id: 1 } })).toBe(
    'SCAN t USING INDEX t|owner:1,at:-1,_id:-1|',
  );
});

test('naming a field that the filter holds to one value costs no sorting', () => {
  const sort = { owner: 1, at: -1, _id: -1 } as const;
  const straight = 'SEARCH t USING INDEX t|owner:1,at:-1,_id:-1| (<expr>=?)';

  expect(plan([BY_TIME], { owner: 'o' }, { sort, limit: 20 })).toBe(straight);
  expect(plan([BY_TIME], { $and: [{ owner: 'o' }] }, { sort, limit: 20 })).toBe(straight);
});

test('what is due is found by its index', () => {
  expect(plan([{ due: 1 }], { due: { $lte: 9 } }, { sort: { due: 1 } })).toBe(
    'SEARCH t USING INDEX t|due:1| (<expr><?)',
  );
});

test('an order by _id walks the primary key, or an index whose first fields are fixed', () => {
  expect(plan([], {}, { sort: { _id: -1 } })).toBe('SCAN t USING INDEX sqlite_autoindex_t_1');
  expect(plan([{ owner: 1, _id: 1 }], { owner: 'o' }, { sort: { _id: -1 } })).toBe(
    'SEARCH t USING INDEX t|owner:1,_id:1| (<expr>=?)',
  );
});

test('a unique value is found by the index beside the one that keeps it unique', () => {
  expect(plan([{ key: 1 }], { key: 'k' }, { limit: 1 }, { unique: true, sparse: true })).toBe(
    'SEARCH t USING INDEX t|key:1|us (<expr>=?)',
  );
});
