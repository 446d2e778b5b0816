/** A document: JSON values only (times are numbers or ISO strings), string `_id`. Fields that are undefined are left out. */
export interface Document {
  readonly _id: string;
}

type Scalar = string | number | boolean | null;

/**
 * The part of MongoDB's query language both implementations understand alike. Dotted paths are allowed; arrays of
 * filters stand under `$and`, `$or` and `$nor`. A condition that is undefined is refused, since leaving it out
 * would widen the filter.
 */
export type Filter = {
  readonly [path: string]: Scalar | FilterOperators | RegExp | readonly Filter[] | undefined;
};

export interface FilterOperators {
  readonly $eq?: Scalar;
  readonly $ne?: Scalar;
  readonly $gt?: string | number;
  readonly $gte?: string | number;
  readonly $lt?: string | number;
  readonly $lte?: string | number;
  readonly $in?: readonly Scalar[];
  readonly $nin?: readonly Scalar[];
  readonly $exists?: boolean;
  readonly $elemMatch?: Filter;
}

/**
 * The part of MongoDB's update language both implementations understand alike. No pipelines, no positional `$`.
 * `$push` and `$addToSet` take a value or `{ $each: [...] }`. A path stands in one operator only.
 */
export interface Update {
  readonly $set?: Readonly<Record<string, unknown>>;
  readonly $unset?: Readonly<Record<string, ''>>;
  readonly $inc?: Readonly<Record<string, number>>;
  readonly $push?: Readonly<Record<string, unknown>>;
  readonly $pull?: Readonly<Record<string, unknown>>;
  readonly $addToSet?: Readonly<Record<string, unknown>>;
  readonly $setOnInsert?: Readonly<Record<string, unknown>>;
  readonly $max?: Readonly<Record<string, number | string>>;
  readonly $min?: Readonly<Record<string, number | string>>;
}

export type SortOrder = Readonly<Record<string, 1 | -1>>;

export interface FindOptions {
  /**
   * Only fields of one index, in its order or its exact reverse; leading fields of the index that the filter sets
   * equal to a value may be left out. `_id` alone always works.
   */
  readonly sort?: SortOrder;
  readonly limit?: number;
  readonly skip?: number;
}

export interface IndexOptions {
  readonly unique?: boolean;
  /** Documents without the field are left out of a unique index. */
  readonly sparse?: boolean;
}

/** An insert or update that would break a unique index. */
export class DuplicateKeyError extends Error {
  constructor(collection: string, cause?: unknown) {
    super(`duplicate key in ${collection}`, { cause });
    this.name = 'DuplicateKeyError';
  }
}

/** A filter or update outside the port's language, or one that the document's types don't allow. Nothing was written. */
export class InvalidOperation extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'InvalidOperation';
  }
}

/** The store didn't answer in time; a write may or may not have happened. Becomes a 503. */
export class StoreUnavailable extends Error {
  constructor(cause?: unknown) {
    super('store did not answer', { cause });
    this.name = 'StoreUnavailable';
  }
}

/**
 * Port: a collection in the MongoDB driver's own words. Each write is atomic on its one document and durable when
 * its promise resolves. Every operation answers or throws `StoreUnavailable` within 2 s.
 */
export interface Collection<T extends Document> {
  insertOne(doc: T): Promise<void>;
  findOne(filter: Filter): Promise<T | null>;
  find(filter: Filter, options?: FindOptions): Promise<T[]>;
  /**
   * Answers the document after the update, or null when none matched (and `upsert` is off). An upsert's new
   * document starts from the filter's equalities; its `_id` comes from there or from `$setOnInsert`.
   */
  findOneAndUpdate(
    filter: Filter,
    update: Update,
    options?: { upsert?: boolean; sort?: SortOrder },
  ): Promise<T | null>;
  /** Answers how many documents matched: 0 or 1. */
  updateOne(filter: Filter, update: Update, options?: { upsert?: boolean }): Promise<number>;
  /** Replaces the whole document that matches, `_id` excepted, which must be the same; answers 0 or 1. */
  replaceOne(filter: Filter, doc: T): Promise<number>;
  deleteOne(filter: Filter): Promise<number>;
  /** Atomic on each document, not on all of them together. */
  deleteMany(filter: Filter): Promise<number>;
  countDocuments(filter: Filter): Promise<number>;
  /** Indexed fields hold scalars of one type, never arrays or objects. Safe to call again. */
  createIndex(fields: SortOrder, options?: IndexOptions): Promise<void>;
}

/** Port: a database. */
export interface Store {
  collection<T extends Document>(name: string): Collection<T>;
  /** Resolves when the store answers, else throws `StoreUnavailable`. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
