import type { Filter } from './collection.ts';
import { isIndexableText, typeSql, valueSql } from './embedded-index.ts';
import { isRecord } from './query-rules.ts';

type SqlValue = string | number;

/** SQL that every matching document meets. */
export interface SqlCondition {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /** Every document that meets it matches, too: counting and skipping can be left to SQL. */
  readonly isExact: boolean;
}

/** Says nothing: meets every document. */
const ANY: SqlCondition = { sql: '1', params: [], isExact: false };
const ALL: SqlCondition = { sql: '1', params: [], isExact: true };
const NONE: SqlCondition = { sql: '0', params: [], isExact: true };

/** Translates what stands on indexed fields; the rest of the filter is left to whoever looks at the documents. */
export function filterToSql(filter: Filter, indexedPaths: ReadonlySet<string>): SqlCondition {
  const parts = Object.entries(filter).map(([path, condition]) => {
    if (path === '$and' || path === '$or') {
      const branches = (condition as readonly Filter[]).map((f) => filterToSql(f, indexedPaths));
      return path === '$and' ? both(branches) : either(branches);
    }
    if (!indexedPaths.has(path)) return ANY;
    return conditionToSql(path, condition);
  });
  return both(parts);
}

function both(parts: readonly SqlCondition[]): SqlCondition {
  const telling = parts.filter((part) => part.sql !== '1');
  const isExact = parts.every((part) => part.isExact);
  if (telling.length === 0) return isExact ? ALL : ANY;
  return join(telling, ' AND ', isExact);
}

function either(parts: readonly SqlCondition[]): SqlCondition {
  const open = parts.find((part) => part.sql === '1');
  if (open) return parts.some((part) => part.sql === '1' && part.isExact) ? ALL : ANY;
  return join(
    parts,
    ' OR ',
    parts.every((part) => part.isExact),
  );
}

function join(parts: readonly SqlCondition[], by: string, isExact: boolean): SqlCondition {
  return {
    sql: parts.map((part) => `(${part.sql})`).join(by),
    params: parts.flatMap((part) => part.params),
    isExact,
  };
}

function conditionToSql(path: string, condition: unknown): SqlCondition {
  if (!isRecord(condition)) return equalSql(path, condition);
  return both(Object.entries(condition).map(([operator, operand]) => operatorToSql(path, operator, operand)));
}

function operatorToSql(path: string, operator: string, operand: unknown): SqlCondition {
  switch (operator) {
    case '$eq':
      return equalSql(path, operand);
    case '$ne':
      return not(equalSql(path, operand));
    case '$in':
      return inSql(path, operand as readonly unknown[]);
    case '$nin':
      return not(inSql(path, operand as readonly unknown[]));
    case '$exists':
      return { sql: `${typeSql(path)} IS ${operand ? 'NOT ' : ''}NULL`, params: [], isExact: true };
    case '$gt':
      return rangeSql(path, '>', operand);
    case '$gte':
      return rangeSql(path, '>=', operand);
    case '$lt':
      return rangeSql(path, '<', operand);
    case '$lte':
      return rangeSql(path, '<=', operand);
    default:
      return ANY;
  }
}

function not(condition: SqlCondition): SqlCondition {
  if (!condition.isExact) return ANY;
  return { ...condition, sql: `NOT ifnull((${condition.sql}), 0)` };
}

function equalSql(path: string, value: unknown): SqlCondition {
  const field = valueSql(path);
  if (value === null) return { sql: `${field} IS NULL`, params: [], isExact: true };
  if (typeof value === 'string')
    return isIndexableText(value) ? { sql: `${field} = ?`, params: [value], isExact: true } : ANY;
  if (path === '_id') return ANY;
  // SQLite reads true and false out of JSON as 1 and 0, so the JSON type tells them from numbers.
  if (typeof value === 'boolean')
    return {
      sql: `${field} = ? AND ${typeSql(path)} = '${value}'`,
      params: [value ? 1 : 0],
      isExact: true,
    };
  if (typeof value === 'number' && Number.isFinite(value))
    return { sql: `${field} = ? AND ${isNumberSql(path)}`, params: [value], isExact: true };
  return ANY;
}

function inSql(path: string, values: readonly unknown[]): SqlCondition {
  const texts = values.filter((value) => typeof value === 'string');
  if (!texts.every(isIndexableText)) return ANY;
  const others = values.filter((value) => typeof value !== 'string').map((value) => equalSql(path, value));
  // One parameter for any number of values keeps the statement the same, so that it stays prepared.
  const inTexts: SqlCondition = {
    sql: `${valueSql(path)} IN (SELECT value FROM json_each(?))`,
    params: [JSON.stringify(texts)],
    isExact: true,
  };
  if (texts.length > 0) return either([inTexts, ...others]);
  return others.length > 0 ? either(others) : NONE;
}

function rangeSql(path: string, comparison: string, value: unknown): SqlCondition {
  const field = valueSql(path);
  // SQLite orders numbers before text; MongoDB's comparisons stay within one type.
  if (typeof value === 'string' && isIndexableText(value))
    return { sql: `${field} ${comparison} ? AND typeof(${field}) = 'text'`, params: [value], isExact: true };
  if (path !== '_id' && typeof value === 'number' && Number.isFinite(value))
    return { sql: `${field} ${comparison} ? AND ${isNumberSql(path)}`, params: [value], isExact: true };
  return ANY;
}

function isNumberSql(path: string): string {
  return `${typeSql(path)} IN ('integer', 'real')`;
}
