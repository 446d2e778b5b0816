import { isDeepStrictEqual } from 'node:util';
import { Query } from 'mingo';
import { type Filter, InvalidOperation, type Update } from './collection.ts';
import { equalities, isRecord, newDocumentId } from './query-rules.ts';

type Json = Record<string, unknown>;
type Change = (current: unknown, operand: unknown, path: string) => unknown;

/** An answer of a `Change` that means: take the field away, or leave it away. */
const ABSENT = undefined;

/**
 * Changes the document as a checked update says. Throws `InvalidOperation` where MongoDB would refuse because of
 * the types found, such as `$inc` on text; the document is then half changed and must be dropped.
 */
export function applyUpdate(doc: Json, update: Update): void {
  for (const [operator, change] of Object.entries(CHANGES)) {
    for (const [path, operand] of Object.entries(update[operator as keyof Update] ?? {})) {
      changeAt(doc, path, operand, change);
    }
  }
}

/** The document a checked upsert inserts: the filter's equalities, `$setOnInsert`, then the update. */
export function insertedDocument(filter: Filter, update: Update): Json {
  const doc: Json = { _id: newDocumentId(filter, update) };
  const { $setOnInsert = {}, ...rest } = update;
  for (const [path, value] of [...equalities(filter), ...Object.entries($setOnInsert)]) {
    changeAt(doc, path, value, CHANGES.$set);
  }
  applyUpdate(doc, rest);
  return doc;
}

const CHANGES = {
  $set: (_current, operand) => operand,
  $unset: () => ABSENT,
  $inc: (current, operand, path) => {
    if (current !== ABSENT && typeof current !== 'number')
      throw new InvalidOperation(`$inc on ${path}, which is no number`);
    return (current ?? 0) + Number(operand);
  },
  $push: (current, operand, path) => [...listAt(current, '$push', path), ...elements(operand)],
  $addToSet: (current, operand, path) => {
    const set = [...listAt(current, '$addToSet', path)];
    for (const element of elements(operand)) {
      if (!set.some((member) => isDeepStrictEqual(member, element))) set.push(element);
    }
    return set;
  },
  $pull: (current, operand, path) => {
    if (current === ABSENT) return ABSENT;
    const isPulled = elementTest(operand);
    return listAt(current, '$pull', path).filter((element) => !isPulled(element));
  },
  $max: (current, operand) => (current === ABSENT || compare(operand, current) > 0 ? operand : current),
  $min: (current, operand) => (current === ABSENT || compare(operand, current) < 0 ? operand : current),
} satisfies Record<string, Change>;

function changeAt(doc: Json, path: string, operand: unknown, change: Change): void {
  const segments = path.split('.');
  const last = segments.pop() ?? path;
  let container: Json | unknown[] = doc;
  for (const segment of segments) {
    let child: unknown = read(container, segment);
    if (child === ABSENT) {
      if (change === CHANGES.$unset || change === CHANGES.$pull) return;
      child = {};
      write(container, segment, child, path);
    }
    if (!isRecord(child) && !Array.isArray(child))
      throw new InvalidOperation(`${path} leads through a value without fields`);
    container = child;
  }
  write(container, last, change(read(container, last), operand, path), path);
}

function read(container: Json | unknown[], segment: string): unknown {
  if (Array.isArray(container)) return container[Number(segment)];
  return Object.hasOwn(container, segment) ? container[segment] : ABSENT;
}

function write(container: Json | unknown[], segment: string, value: unknown, path: string): void {
  if (!Array.isArray(container)) {
    if (value === ABSENT) delete container[segment];
    else container[segment] = value;
    return;
  }
  const index = Number(segment);
  if (!/^\d+$/.test(segment) || index > container.length)
    throw new InvalidOperation(`${path} is no element of its list`);
  if (value !== ABSENT) container[index] = value;
  else if (index < container.length) container[index] = null;
}

function listAt(current: unknown, operator: string, path: string): readonly unknown[] {
  if (current === ABSENT) return [];
  if (!Array.isArray(current)) throw new InvalidOperation(`${operator} on ${path}, which is no list`);
  return current;
}

function elements(operand: unknown): readonly unknown[] {
  return isRecord(operand) && Array.isArray(operand['$each']) ? operand['$each'] : [operand];
}

function elementTest(operand: unknown): (element: unknown) => boolean {
  const isFilter = isRecord(operand) && !Object.keys(operand).some((key) => key.startsWith('$'));
  if (isFilter) {
    const query = new Query(operand);
    return (element) => isRecord(element) && query.test(element);
  }
  const query = new Query({ element: operand });
  return (element) => query.test({ element });
}

/** MongoDB's order between types: null, numbers, text, objects, lists, booleans. */
function rank(value: unknown): number {
  if (value === null) return 0;
  if (typeof value === 'number') return 1;
  if (typeof value === 'string') return 2;
  if (typeof value === 'boolean') return 5;
  return Array.isArray(value) ? 4 : 3;
}

function compare(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return rank(left) - rank(right);
}
