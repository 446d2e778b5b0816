import { Query } from 'mingo';
import type {
  Collection,
  Document,
  Filter,
  FindOptions,
  IndexOptions,
  SortOrder,
  Update,
} from './collection.ts';
import { InvalidOperation } from './collection.ts';
import type { EmbeddedDatabase } from './embedded-database.ts';
import { filterToSql } from './embedded-filter.ts';
import { checkIndexedFields } from './embedded-index.ts';
import { selectSql } from './embedded-select.ts';
import type { EmbeddedTable } from './embedded-table.ts';
import { applyUpdate, insertedDocument } from './embedded-update.ts';
import { checkDocument, checkFilter, checkFindOptions, checkUpdate, newDocumentId } from './query-rules.ts';

type Json = Record<string, unknown>;

interface Row {
  readonly id: string;
  readonly doc: string;
}

/** How many documents `deleteMany` removes before it lets other work run. */
const DELETE_BATCH = 500;

/**
 * A collection in SQLite. SQL narrows down to a superset of what matches and gives the order, mingo decides;
 * filters that SQL can say exactly are counted, skipped and limited there. Every operation is synchronous inside,
 * so that nothing comes between reading and writing.
 */
export class EmbeddedCollection<T extends Document> implements Collection<T> {
  readonly #db: EmbeddedDatabase;
  readonly #table: EmbeddedTable;

  constructor(db: EmbeddedDatabase, table: EmbeddedTable) {
    this.#db = db;
    this.#table = table;
  }

  async insertOne(doc: T): Promise<void> {
    checkDocument(doc);
    return this.#perform(() => {
      this.#insert(doc._id, doc);
    });
  }

  async findOne(filter: Filter): Promise<T | null> {
    const [doc] = await this.find(filter, { limit: 1 });
    return doc ?? null;
  }

  async find(filter: Filter, options: FindOptions = {}): Promise<T[]> {
    checkFilter(filter);
    checkFindOptions(options);
    return this.#perform(() => Array.from(this.#matching(filter, options), ({ doc }): T => JSON.parse(doc)));
  }

  async findOneAndUpdate(
    filter: Filter,
    update: Update,
    options: { upsert?: boolean; sort?: SortOrder } = {},
  ): Promise<T | null> {
    checkFilter(filter);
    checkUpdate(update);
    return this.#write((): T | null => {
      const row = this.#first(filter, options.sort);
      if (row) return JSON.parse(this.#update(row, update));
      return options.upsert ? JSON.parse(this.#upsert(filter, update)) : null;
    });
  }

  async updateOne(filter: Filter, update: Update, options: { upsert?: boolean } = {}): Promise<number> {
    checkFilter(filter);
    checkUpdate(update);
    return this.#write(() => {
      const row = this.#first(filter);
      if (row) this.#update(row, update);
      else if (options.upsert) this.#upsert(filter, update);
      return row ? 1 : 0;
    });
  }

  async replaceOne(filter: Filter, doc: T): Promise<number> {
    checkFilter(filter);
    checkDocument(doc);
    return this.#write(() => {
      const row = this.#first(filter);
      if (!row) return 0;
      if (row.id !== doc._id) throw new InvalidOperation('_id never changes');
      this.#store(row, doc);
      return 1;
    });
  }

  async deleteOne(filter: Filter): Promise<number> {
    checkFilter(filter);
    return this.#write(() => {
      const row = this.#first(filter);
      return row ? this.#deleteIds([row.id]) : 0;
    });
  }

  async deleteMany(filter: Filter): Promise<number> {
    checkFilter(filter);
    let count = 0;
    for (;;) {
      const deleted = await this.#write(() =>
        this.#deleteIds(Array.from(this.#matching(filter, { limit: DELETE_BATCH }), ({ id }) => id)),
      );
      count += deleted;
      if (deleted < DELETE_BATCH) return count;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async countDocuments(filter: Filter): Promise<number> {
    checkFilter(filter);
    return this.#perform(() => {
      const { sql, params, isExact } = filterToSql(filter, this.#table.indexedPaths);
      if (!isExact) return Array.from(this.#matching(filter, {})).length;
      const count = this.#db.statement(`SELECT count(*) AS n FROM "${this.#table.name}" WHERE ${sql}`);
      return Number(count.get(...params)?.['n']);
    });
  }

  async createIndex(fields: SortOrder, options: IndexOptions = {}): Promise<void> {
    return this.#perform(() => this.#table.createIndex(fields, options));
  }

  async #perform<R>(work: () => R): Promise<R> {
    return this.#db.perform(this.#table.name, () => {
      this.#table.prepare();
      return work();
    });
  }

  async #write<R>(work: () => R): Promise<R> {
    return this.#perform(() => this.#db.transaction(work));
  }

  *#matching(filter: Filter, options: FindOptions): Generator<Row> {
    const { sql, params, isExact } = selectSql(this.#table, filter, options);
    const rows = this.#db.statement(sql).iterate(...params) as Iterable<unknown> as Iterable<Row>;
    if (isExact) return yield* rows;
    const query = new Query(filter);
    let toSkip = options.skip ?? 0;
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    for (const row of rows) {
      if (!query.test(parse(row.doc))) continue;
      if (toSkip-- > 0) continue;
      yield row;
      if (--left === 0) return;
    }
  }

  #first(filter: Filter, sort?: SortOrder): Row | null {
    const [row] = this.#matching(filter, sort ? { sort, limit: 1 } : { limit: 1 });
    return row ?? null;
  }

  #upsert(filter: Filter, update: Update): string {
    return this.#insert(newDocumentId(filter, update), insertedDocument(filter, update));
  }

  #insert(id: string, doc: object): string {
    checkIndexedFields(doc, this.#table.indexedPaths);
    const text = JSON.stringify(doc);
    this.#db.statement(`INSERT INTO "${this.#table.name}" (id, doc) VALUES (?, ?)`).run(id, text);
    return text;
  }

  #update(row: Row, update: Update): string {
    const doc = parse(row.doc);
    applyUpdate(doc, update);
    return this.#store(row, doc);
  }

  #store(row: Row, doc: object): string {
    checkIndexedFields(doc, this.#table.indexedPaths);
    const text = JSON.stringify(doc);
    if (text === row.doc) return text;
    this.#db.statement(`UPDATE "${this.#table.name}" SET doc = ? WHERE id = ?`).run(text, row.id);
    return text;
  }

  #deleteIds(ids: readonly string[]): number {
    const sql = `DELETE FROM "${this.#table.name}" WHERE id = ?`;
    for (const id of ids) this.#db.statement(sql).run(id);
    return ids.length;
  }
}

function parse(text: string): Json {
  return JSON.parse(text);
}
