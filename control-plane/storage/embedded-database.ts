import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Clock } from '../../shared/time.ts';
import { DuplicateKeyError, StoreUnavailable } from './collection.ts';

const BUSY_LIMIT_MS = 1_500;
const BUSY_PAUSE_MS = 10;
const MAX_STATEMENTS = 256;

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CONSTRAINT = 19;
// READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB: the file can't serve, whatever is asked of it.
const SQLITE_UNUSABLE = new Set([8, 10, 11, 13, 14, 26]);

/** One SQLite connection: prepared statements, transactions, and waiting for other processes' locks. */
export class EmbeddedDatabase {
  readonly #db: DatabaseSync;
  readonly #clock: Clock;
  readonly #statements = new Map<string, StatementSync>();
  #isClosed = false;

  constructor(db: DatabaseSync, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /**
   * Runs `work` at once and without a pause in it, again and again while another process holds the lock. Throws
   * the port's errors: `DuplicateKeyError` naming `collection`, `StoreUnavailable`.
   */
  async perform<T>(collection: string, work: () => T): Promise<T> {
    const giveUpAtMs = this.#clock.monotonicMs() + BUSY_LIMIT_MS;
    for (;;) {
      if (this.#isClosed) throw new StoreUnavailable(new Error('the store is closed'));
      try {
        return work();
      } catch (error) {
        const code = resultCode(error);
        if (code === SQLITE_CONSTRAINT) throw new DuplicateKeyError(collection, error);
        if (code !== null && SQLITE_UNUSABLE.has(code)) throw new StoreUnavailable(error);
        if (code !== SQLITE_BUSY && code !== SQLITE_LOCKED) throw error;
        if (this.#clock.monotonicMs() >= giveUpAtMs) throw new StoreUnavailable(error);
      }
      await this.#clock.sleep(BUSY_PAUSE_MS);
    }
  }

  /** Takes the write lock first, so that what `work` reads is still true when it writes. */
  transaction<T>(work: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  execute(sql: string): void {
    this.#db.exec(sql);
  }

  /** A prepared statement, kept for the next time; of many different ones the oldest is dropped. */
  statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    for (const oldest of this.#statements.keys()) {
      if (this.#statements.size <= MAX_STATEMENTS) break;
      this.#statements.delete(oldest);
    }
    return statement;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#statements.clear();
    this.#db.close();
  }

  #rollBack(): void {
    try {
      this.#db.exec('ROLLBACK');
    } catch {
      // After some errors (disk full) SQLite has rolled back by itself.
    }
  }
}

/** SQLite's primary result code, or null for an error that isn't SQLite's. */
function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : null;
}
