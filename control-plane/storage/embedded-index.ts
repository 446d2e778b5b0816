import { type Filter, type IndexOptions, InvalidOperation, type SortOrder } from './collection.ts';
import { equalities, isRecord } from './query-rules.ts';

/** An index of the embedded store. Its name in the file says all of it, so that every process can read it back. */
export interface EmbeddedIndex {
  readonly name: string;
  readonly fields: readonly IndexField[];
  readonly isUnique: boolean;
  readonly isSparse: boolean;
}

interface IndexField {
  readonly path: string;
  readonly direction: 1 | -1;
}

const PATH = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$/;
// SQLite's JSON functions cut text at NUL, and a lone surrogate has no UTF-8 form.
const UNINDEXABLE_TEXT = /[\0\uD800-\uDFFF]/u;

/** Text that SQLite reads out of JSON exactly as it went in. */
export function isIndexableText(text: string): boolean {
  return !UNINDEXABLE_TEXT.test(text);
}

export function defineIndex(table: string, order: SortOrder, options: IndexOptions): EmbeddedIndex {
  const fields = Object.entries(order).map(([path, direction]) => ({ path, direction }));
  for (const { path } of fields) {
    if (!PATH.test(path)) throw new InvalidOperation(`can't index ${path}`);
  }
  if (fields.length === 0) throw new InvalidOperation('an index needs a field');
  const isUnique = options.unique ?? false;
  const isSparse = options.sparse ?? false;
  const spec = fields.map(({ path, direction }) => `${path}:${direction}`).join(',');
  return {
    name: `${table}|${spec}|${isUnique ? 'u' : ''}${isSparse ? 's' : ''}`,
    fields,
    isUnique,
    isSparse,
  };
}

/** Reads `defineIndex`'s name back; null for an index that isn't of that form. */
export function parseIndexName(name: string): EmbeddedIndex | null {
  const [table, spec, flags, ...rest] = name.split('|');
  if (!table || !spec || flags === undefined || rest.length > 0) return null;
  const order: Record<string, 1 | -1> = {};
  for (const part of spec.split(',')) {
    const [path = '', direction] = part.split(':');
    order[path] = direction === '-1' ? -1 : 1;
  }
  return defineIndex(table, order, { unique: flags.includes('u'), sparse: flags.includes('s') });
}

/** The SQL that makes it. Expressions are written exactly as queries write them, else SQLite would not use it. */
export function createIndexSql(table: string, index: EmbeddedIndex): string[] {
  const columns = index.fields.map(
    ({ path, direction }) => `${valueSql(path)} ${direction === 1 ? 'ASC' : 'DESC'}`,
  );
  const plain = `CREATE INDEX IF NOT EXISTS "${index.name}" ON "${table}" (${columns.join(', ')})`;
  if (!index.isUnique) return [plain];
  // SQLite takes NULLs for different from each other, MongoDB takes missing fields for equal. So uniqueness
  // has an index of its own, in which a missing value is an empty blob, which no JSON value can be.
  const keys = index.fields.map(({ path }) => `ifnull(${valueSql(path)}, x'')`);
  const present = index.fields.map(({ path }) => `${typeSql(path)} IS NOT NULL`);
  const where = index.isSparse ? ` WHERE ${present.join(' OR ')}` : '';
  return [
    plain,
    `CREATE UNIQUE INDEX IF NOT EXISTS "${index.name}|only" ON "${table}" (${keys.join(', ')})${where}`,
  ];
}

/** A field's value in SQL: NULL when missing or null, 0 and 1 for booleans. `path` is one that was indexed. */
export function valueSql(path: string): string {
  return path === '_id' ? 'id' : `json_extract(doc, '$.${path}')`;
}

/** A field's JSON type in SQL: NULL when missing, 'null' when null. `path` is one that was indexed. */
export function typeSql(path: string): string {
  return path === '_id' ? `'text'` : `json_type(doc, '$.${path}')`;
}

/** Throws `InvalidOperation` when an indexed field holds what an index can't order: a list, an object, odd text. */
export function checkIndexedFields(doc: object, paths: Iterable<string>): void {
  for (const path of paths) {
    let value: unknown = doc;
    for (const segment of path.split('.')) {
      if (Array.isArray(value)) throw new InvalidOperation(`indexed field ${path} leads through a list`);
      value = isRecord(value) ? value[segment] : undefined;
    }
    const isText = typeof value === 'string';
    if (isText ? !isIndexableText(value as string) : typeof value === 'object' && value !== null)
      throw new InvalidOperation(`indexed field ${path} holds no plain scalar`);
  }
}

/** The order asked for, in SQL. Throws `InvalidOperation` when no index has it, forwards or backwards. */
export function orderBySql(indexes: readonly EmbeddedIndex[], filter: Filter, sort: SortOrder): string {
  const wanted = Object.entries(sort).map(([path, direction]) => ({ path, direction }));
  const fixed = equalities(filter);
  const isIdAlone = wanted.length === 1 && wanted[0]?.path === '_id';
  if (!isIdAlone && !indexes.some(({ fields }) => hasOrder(fields, wanted, fixed)))
    throw new InvalidOperation(`there is no index to sort by ${JSON.stringify(sort)}`);
  // What the filter holds to one value orders nothing; naming it all the same would make SQLite sort every row.
  const free = wanted.filter(({ path }) => !isScalar(fixed.get(path)));
  return (free.length > 0 ? free : wanted)
    .map(({ path, direction }) => `${valueSql(path)} ${direction === 1 ? 'ASC' : 'DESC'}`)
    .join(', ');
}

function isScalar(value: unknown): boolean {
  return value !== undefined && (value === null || typeof value !== 'object');
}

/** True when `wanted` follows in the index, in either direction, after leading fields that the filter fixes. */
function hasOrder(
  fields: readonly IndexField[],
  wanted: readonly IndexField[],
  fixed: ReadonlyMap<string, unknown>,
): boolean {
  for (let start = 0; start <= fields.length - wanted.length; start++) {
    const run = fields.slice(start, start + wanted.length);
    const isForward = run.every((f, i) => f.path === wanted[i]?.path && f.direction === wanted[i]?.direction);
    const isReverse = run.every((f, i) => f.path === wanted[i]?.path && f.direction !== wanted[i]?.direction);
    if (isForward || isReverse) return true;
    const next = fields[start];
    if (!next || !fixed.has(next.path)) return false;
  }
  return false;
}
