import { type IndexOptions, InvalidOperation, type SortOrder } from './collection.ts';
import type { EmbeddedDatabase } from './embedded-database.ts';
import {
  createIndexSql,
  defineIndex,
  type EmbeddedIndex,
  parseIndexName,
  typeSql,
} from './embedded-index.ts';

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/** The table behind a collection: made when first used, its indexes read back from the file. */
export class EmbeddedTable {
  readonly name: string;
  readonly #db: EmbeddedDatabase;
  #isReady = false;
  #indexes: EmbeddedIndex[] = [];
  #indexedPaths: ReadonlySet<string> = new Set(['_id']);

  constructor(db: EmbeddedDatabase, name: string) {
    if (!NAME.test(name)) throw new InvalidOperation(`collection name ${name} is not allowed`);
    this.#db = db;
    this.name = name;
  }

  get indexes(): readonly EmbeddedIndex[] {
    return this.#indexes;
  }

  /** Paths that hold scalars only, `_id` among them. */
  get indexedPaths(): ReadonlySet<string> {
    return this.#indexedPaths;
  }

  /** Synchronous; to be called inside `EmbeddedDatabase.perform` before anything else. */
  prepare(): void {
    if (this.#isReady) return;
    const found = this.#db
      .statement(`SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?`)
      .get(this.name);
    if (!found)
      this.#db.execute(
        `CREATE TABLE IF NOT EXISTS "${this.name}" (id TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL)`,
      );
    this.#readIndexes();
    this.#isReady = true;
  }

  /** Synchronous, inside `perform`. Throws `InvalidOperation` when stored documents don't fit the index. */
  createIndex(order: SortOrder, options: IndexOptions): void {
    this.prepare();
    const index = defineIndex(this.name, order, options);
    if (this.#indexes.some(({ name }) => name === index.name)) return;
    this.#db.transaction(() => {
      this.#refuseUnindexable(index);
      for (const sql of createIndexSql(this.name, index)) this.#db.execute(sql);
    });
    this.#readIndexes();
  }

  #refuseUnindexable(index: EmbeddedIndex): void {
    for (const { path } of index.fields) {
      const misfit = this.#db
        .statement(`SELECT id FROM "${this.name}" WHERE ${typeSql(path)} IN ('array', 'object') LIMIT 1`)
        .get();
      if (misfit) throw new InvalidOperation(`${path} holds lists or objects and can't be indexed`);
    }
  }

  #readIndexes(): void {
    const rows = this.#db
      .statement(`SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?`)
      .all(this.name);
    this.#indexes = rows.flatMap(({ name }) => parseIndexName(String(name)) ?? []);
    this.#indexedPaths = new Set([
      '_id',
      ...this.#indexes.flatMap(({ fields }) => fields.map(({ path }) => path)),
    ]);
  }
}
