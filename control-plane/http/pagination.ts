import { type Static, Type } from 'typebox';
import { Failure } from '../../shared/errors.ts';
import type { Collection, Document, Filter, SortOrder } from '../storage/collection.ts';
import type { CursorSigner, SortKey } from './cursor-signer.ts';

const MAX_OFFSET_ROWS = 100_000;
const DEFAULT_PAGE_SIZE = 30;

/** Query parameters of every list; spread them into the list's own query schema. */
export const pageQueryFields = {
  cursor: Type.Optional(Type.String({ description: 'Follow `next_cursor` while `has_more` is true.' })),
  page: Type.Optional(Type.Integer({ minimum: 1, description: 'Offset pagination; excludes `cursor`.' })),
  include_total: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Counts the rows with `cursor` as well; `page` always does.',
    }),
  ),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: DEFAULT_PAGE_SIZE })),
};

/** Reply fields of every list; spread them beside the rows. */
export const pageReplyFields = {
  has_more: Type.Boolean(),
  next_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Null on the last page.' }),
  total: Type.Union([Type.Integer(), Type.Null()], { description: 'Null when it was not counted.' }),
};

const PageQuery = Type.Object(pageQueryFields);
export type PageQuery = Static<typeof PageQuery>;

export interface Page<T> {
  readonly rows: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
  readonly total: number | null;
}

export interface PaginateInput<T extends Document> {
  readonly collection: Collection<T>;
  readonly filter: Filter;
  /** Fields of one index with strings or numbers in them, the last one unique: the order of the list. */
  readonly sort: SortOrder;
  readonly query: PageQuery;
  readonly signer: CursorSigner;
  /** Names the list and whose it is; a cursor of another scope is refused. */
  readonly scope: string;
}

/**
 * One page of a list. Page style always counts; cursor style counts when asked. Both give the next cursor.
 * Throws `Failure` 400 for `page` with `cursor`, a cursor that doesn't verify, and offsets past 100,000 rows.
 */
export async function paginate<T extends Document>(input: PaginateInput<T>): Promise<Page<T>> {
  const { collection, filter, sort, query } = input;
  const pageSize = query.page_size ?? DEFAULT_PAGE_SIZE;
  if (query.page !== undefined && query.cursor !== undefined) {
    throw new Failure('bad_request', '`page` and `cursor` exclude each other');
  }
  const skip = query.page === undefined ? 0 : (query.page - 1) * pageSize;
  if (skip > MAX_OFFSET_ROWS) throw new Failure('bad_request', 'Page offset exceeds 100,000 rows');
  const isCounted = query.page !== undefined || query.include_total === true;
  const [found, total] = await Promise.all([
    collection.find(afterCursor(input), { sort, limit: pageSize + 1, skip }),
    isCounted ? collection.countDocuments(filter) : null,
  ]);
  const rows = found.slice(0, pageSize);
  const last = rows.at(-1);
  const has_more = found.length > pageSize;
  const keyFields = fieldsOfKey(input).map(([field]) => field);
  const next_cursor = has_more && last ? input.signer.sign(input.scope, sortKeyOf(last, keyFields)) : null;
  return { rows, has_more, next_cursor, total };
}

function afterCursor<T extends Document>(input: PaginateInput<T>): Filter {
  const { filter, query, signer, scope } = input;
  if (query.cursor === undefined) return filter;
  const sortKey = signer.read(scope, query.cursor);
  if (!sortKey) throw new Failure('bad_request', 'Cursor is not valid');
  return { $and: [filter, rowsAfter(fieldsOfKey(input), sortKey)] };
}

/** The sort fields that differ between rows; those the filter holds to one value say nothing about a row's place. */
function fieldsOfKey<T extends Document>({ filter, sort }: PaginateInput<T>): [string, 1 | -1][] {
  return Object.entries(sort).filter(([field]) => {
    const fixed = filter[field];
    return fixed === undefined || (typeof fixed === 'object' && fixed !== null);
  });
}

/** Rows behind `sortKey`: (a < x) or (a = x and b < y) or … */
function rowsAfter(fields: readonly [string, 1 | -1][], sortKey: SortKey): Filter {
  const steps = fields.map(([field, direction], at) => {
    const same = fields.slice(0, at).map(([name], i) => [name, sortKey[i]] as const);
    const value = sortKey[at];
    if (value === undefined) throw new Failure('bad_request', 'Cursor is not valid');
    return { ...Object.fromEntries(same), [field]: direction === -1 ? { $lt: value } : { $gt: value } };
  });
  return { $or: steps };
}

function sortKeyOf(row: Document, fields: readonly string[]): SortKey {
  return fields.map((field) => {
    const value: unknown = Reflect.get(row, field);
    if (typeof value === 'string' || typeof value === 'number') return value;
    throw new Error(`sort field ${field} holds neither text nor a number`);
  });
}
