import type { Collection as DriverCollection, Filter as DriverFilter, UpdateFilter } from 'mongodb';
import { type Clock, withDeadline } from '../../shared/time.ts';
import type {
  Collection,
  Document,
  Filter,
  FindOptions,
  IndexOptions,
  SortOrder,
  Update,
} from './collection.ts';
import { DuplicateKeyError } from './collection.ts';
import { portError } from './mongo-errors.ts';
import { checkDocument, checkFilter, checkFindOptions, checkUpdate, newDocumentId } from './query-rules.ts';

interface UpdateOptions {
  readonly upsert?: boolean;
  readonly sort?: SortOrder;
}

const OPERATION_LIMIT_MS = 1_700;
// A new index on a large collection takes its time, once.
const INDEX_LIMIT_MS = 60_000;
const MAX_UPSERT_TRIES = 3;

/** A collection in MongoDB. What was written past the deadline may still happen. */
export class MongoCollection<T extends Document> implements Collection<T> {
  readonly #rows: DriverCollection<Document>;
  readonly #clock: Clock;

  constructor(rows: DriverCollection<Document>, clock: Clock) {
    this.#rows = rows;
    this.#clock = clock;
  }

  async insertOne(doc: T): Promise<void> {
    checkDocument(doc);
    await this.#perform(() => this.#rows.insertOne(doc));
  }

  async findOne(filter: Filter): Promise<T | null> {
    checkFilter(filter);
    return this.#perform(() => this.#rows.findOne<T>(toDriver(filter)));
  }

  async find(filter: Filter, options: FindOptions = {}): Promise<T[]> {
    checkFilter(filter);
    checkFindOptions(options);
    return this.#perform(() => this.#rows.find<T>(toDriver(filter), { ...options }).toArray());
  }

  async findOneAndUpdate(filter: Filter, update: Update, options: UpdateOptions = {}): Promise<T | null> {
    checkUpserting(filter, update, options);
    const found = await this.#upserting(options, () =>
      this.#rows.findOneAndUpdate(toDriver(filter), toDriverUpdate(update), {
        ...options,
        returnDocument: 'after',
      }),
    );
    // Only documents of type T were ever put into this collection.
    return found as T | null;
  }

  async updateOne(filter: Filter, update: Update, options: UpdateOptions = {}): Promise<number> {
    checkUpserting(filter, update, options);
    const result = await this.#upserting(options, () =>
      this.#rows.updateOne(toDriver(filter), toDriverUpdate(update), { ...options }),
    );
    return result.matchedCount;
  }

  async replaceOne(filter: Filter, doc: T): Promise<number> {
    checkFilter(filter);
    checkDocument(doc);
    const result = await this.#perform(() => this.#rows.replaceOne(toDriver(filter), doc));
    return result.matchedCount;
  }

  async deleteOne(filter: Filter): Promise<number> {
    checkFilter(filter);
    return (await this.#perform(() => this.#rows.deleteOne(toDriver(filter)))).deletedCount;
  }

  async deleteMany(filter: Filter): Promise<number> {
    checkFilter(filter);
    return (await this.#perform(() => this.#rows.deleteMany(toDriver(filter)))).deletedCount;
  }

  async countDocuments(filter: Filter): Promise<number> {
    checkFilter(filter);
    return this.#perform(() => this.#rows.countDocuments(toDriver(filter)));
  }

  async createIndex(fields: SortOrder, options: IndexOptions = {}): Promise<void> {
    await this.#perform(() => this.#rows.createIndex({ ...fields }, { ...options }), INDEX_LIMIT_MS);
  }

  /** Two upserts of one key may both try to insert; the loser finds the winner's document when it tries again. */
  async #upserting<R>(options: UpdateOptions, work: () => Promise<R>): Promise<R> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#perform(work);
      } catch (error) {
        const isWorthAgain = options.upsert && tries < MAX_UPSERT_TRIES;
        if (!isWorthAgain || !(error instanceof DuplicateKeyError)) throw error;
      }
    }
  }

  async #perform<R>(work: () => Promise<R>, limitMs = OPERATION_LIMIT_MS): Promise<R> {
    try {
      return await withDeadline(this.#clock, 'MongoDB', limitMs, work());
    } catch (error) {
      throw portError(this.#rows.collectionName, error);
    }
  }
}

function checkUpserting(filter: Filter, update: Update, options: UpdateOptions): void {
  checkFilter(filter);
  checkUpdate(update);
  if (options.upsert) newDocumentId(filter, update);
}

// The port's language is a part of the driver's, whose types can't say so for paths known only at run time.
function toDriver(filter: Filter): DriverFilter<Document> {
  return filter as DriverFilter<Document>;
}

function toDriverUpdate(update: Update): UpdateFilter<Document> {
  return update as UpdateFilter<Document>;
}
