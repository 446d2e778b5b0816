import type { Filter, FindOptions } from './collection.ts';
import { filterToSql, type SqlCondition } from './embedded-filter.ts';
import { type EmbeddedIndex, orderBySql } from './embedded-index.ts';

/** What a query has to know of a table. */
interface QueriedTable {
  readonly name: string;
  readonly indexes: readonly EmbeddedIndex[];
  readonly indexedPaths: ReadonlySet<string>;
}

/**
 * The SELECT (columns `id`, `doc`) for what `find` was asked. When exact it gives just the documents wanted, with
 * limit and skip applied; otherwise more of them, in the right order. Throws `InvalidOperation` for a sort that no
 * index has.
 */
export function selectSql(table: QueriedTable, filter: Filter, options: FindOptions): SqlCondition {
  const { sql, params, isExact } = filterToSql(filter, table.indexedPaths);
  const parts = [
    `SELECT id, doc FROM "${table.name}"`,
    `WHERE ${sql}`,
    options.sort && `ORDER BY ${orderBySql(table.indexes, filter, options.sort)}`,
    isExact && 'LIMIT ? OFFSET ?',
  ];
  const bounds = isExact ? [options.limit ?? -1, options.skip ?? 0] : [];
  return { sql: parts.filter(Boolean).join(' '), params: [...params, ...bounds], isExact };
}
