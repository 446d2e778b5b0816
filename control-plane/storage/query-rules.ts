import { type Document, type Filter, type FindOptions, InvalidOperation, type Update } from './collection.ts';

const LOGICAL = new Set(['$and', '$or', '$nor']);
const COMPARISONS = new Set([
  '$eq',
  '$ne',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$in',
  '$nin',
  '$exists',
  '$elemMatch',
]);
const UPDATES = new Set([
  '$set',
  '$unset',
  '$inc',
  '$push',
  '$pull',
  '$addToSet',
  '$setOnInsert',
  '$max',
  '$min',
]);
const FORBIDDEN_SEGMENTS = new Set(['', '__proto__', 'constructor', 'prototype']);

/** True for `{…}`, false for arrays, null, regular expressions and scalars. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RegExp);
}

/** Refuses whatever the two implementations might read differently. Throws `InvalidOperation`. */
export function checkFilter(filter: Filter): void {
  for (const [path, condition] of Object.entries(filter)) {
    if (path.startsWith('$')) checkLogical(path, condition);
    else checkCondition(path, condition);
  }
}

function checkLogical(operator: string, branches: unknown): void {
  if (!LOGICAL.has(operator)) throw new InvalidOperation(`unknown filter operator ${operator}`);
  if (!Array.isArray(branches) || branches.length === 0)
    throw new InvalidOperation(`${operator} needs a list of filters`);
  for (const branch of branches) checkFilter(branch);
}

function checkCondition(path: string, condition: unknown): void {
  checkPath(path);
  if (condition === undefined) throw new InvalidOperation(`condition on ${path} is undefined`);
  if (Array.isArray(condition)) throw new InvalidOperation(`condition on ${path} is a list`);
  if (!isRecord(condition)) return;
  const operators = Object.entries(condition);
  if (operators.length === 0) throw new InvalidOperation(`condition on ${path} is empty`);
  for (const [operator, operand] of operators) {
    if (!COMPARISONS.has(operator)) throw new InvalidOperation(`unknown operator ${operator} on ${path}`);
    if (operand === undefined) throw new InvalidOperation(`${operator} on ${path} is undefined`);
    if ((operator === '$in' || operator === '$nin') && !Array.isArray(operand))
      throw new InvalidOperation(`${operator} on ${path} needs a list`);
    if (operator === '$elemMatch') checkElement(path, operand);
  }
}

/** `$elemMatch` takes a filter for elements that are objects, or comparisons for elements that are scalars. */
function checkElement(path: string, operand: unknown): void {
  if (!isRecord(operand)) throw new InvalidOperation(`$elemMatch on ${path} needs a filter`);
  const isComparison = Object.keys(operand).some((key) => COMPARISONS.has(key));
  if (isComparison) checkCondition(path, operand);
  else checkFilter(operand as Filter);
}

/** Refuses unknown operators, `_id`, and two operators that touch the same path. Throws `InvalidOperation`. */
export function checkUpdate(update: Update): void {
  const paths: string[] = [];
  for (const [operator, fields] of Object.entries(update)) {
    if (!UPDATES.has(operator)) throw new InvalidOperation(`unknown update operator ${operator}`);
    for (const [path, value] of Object.entries(fields ?? {})) {
      checkPath(path);
      const isNewId = path === '_id' && operator === '$setOnInsert';
      if (path.split('.')[0] === '_id' && !isNewId) throw new InvalidOperation('_id never changes');
      if (value === undefined) throw new InvalidOperation(`${operator} on ${path} is undefined`);
      if (operator === '$inc' && !Number.isFinite(value))
        throw new InvalidOperation(`$inc on ${path} needs a finite number`);
      if (operator === '$push' || operator === '$addToSet') checkElements(operator, path, value);
      paths.push(path);
    }
  }
  if (paths.length === 0) throw new InvalidOperation('update is empty');
  refuseOverlaps(paths);
}

function checkElements(operator: string, path: string, value: unknown): void {
  if (!isRecord(value) || !Object.keys(value).some((key) => key.startsWith('$'))) return;
  if (Object.keys(value).length > 1 || !Array.isArray(value['$each']))
    throw new InvalidOperation(`${operator} on ${path} takes a value or { $each: [...] }`);
}

function refuseOverlaps(paths: readonly string[]): void {
  const sorted = paths.map((path) => `${path}.`).sort();
  sorted.forEach((path, i) => {
    const previous = sorted[i - 1];
    if (previous !== undefined && path.startsWith(previous))
      throw new InvalidOperation(`update touches ${path.slice(0, -1)} twice`);
  });
}

function checkPath(path: string): void {
  for (const segment of path.split('.')) {
    if (FORBIDDEN_SEGMENTS.has(segment) || segment.startsWith('$'))
      throw new InvalidOperation(`path ${path} is not allowed`);
  }
}

/** Throws `InvalidOperation` for a limit of nothing or a negative skip, which MongoDB reads in its own ways. */
export function checkFindOptions({ limit = 1, skip = 0 }: FindOptions): void {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new InvalidOperation('limit must be at least 1');
  if (!Number.isSafeInteger(skip) || skip < 0) throw new InvalidOperation('skip must be at least 0');
}

/** Throws `InvalidOperation` for a document without a string `_id`: MongoDB would invent one. */
export function checkDocument(doc: Document): void {
  if (typeof doc._id !== 'string') throw new InvalidOperation('a document needs a string _id');
}

/** The equalities a filter demands at its top level and under `$and`: what an upsert's new document starts from. */
export function equalities(filter: Filter): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [path, condition] of Object.entries(filter)) {
    if (path === '$and' && Array.isArray(condition)) {
      for (const branch of condition) {
        for (const [key, value] of equalities(branch)) found.set(key, value);
      }
    } else if (path.startsWith('$') || condition instanceof RegExp) {
      // Other logical operators and patterns name no single value.
    } else if (!isRecord(condition)) {
      found.set(path, condition);
    } else if ('$eq' in condition) {
      found.set(path, condition['$eq']);
    }
  }
  return found;
}

/** The `_id` an upsert would insert. Throws `InvalidOperation` when filter and update don't say one. */
export function newDocumentId(filter: Filter, update: Update): string {
  const id = equalities(filter).get('_id') ?? update.$setOnInsert?.['_id'];
  if (typeof id !== 'string') throw new InvalidOperation('an upsert needs a string _id');
  return id;
}
