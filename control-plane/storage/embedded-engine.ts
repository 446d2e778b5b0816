import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { DatabaseSync } from 'node:sqlite';

/** How safe an acknowledged write is: `FULL` survives power loss, `NORMAL` only the death of the process. */
export type Synchronous = 'FULL' | 'NORMAL';

const OPEN_WAIT_MS = 2_000;
// Waiting inside SQLite blocks the event loop, so most of the waiting for another process is done outside.
const LOCK_WAIT_MS = 2;
const WAL_LIMIT_BYTES = 64 * 1024 * 1024;
const CACHE_KIB = 16 * 1024;

/** Opens or creates the file, readable by its owner only. Throws the engine's own error when it can't. */
export function openDatabase(file: string, synchronous: Synchronous): DatabaseSync {
  const Database = loadEngine();
  if (file !== ':memory:') closeSync(openSync(file, 'a', 0o600));
  const db = new Database(file);
  try {
    db.exec(`PRAGMA busy_timeout = ${OPEN_WAIT_MS}`);
    db.exec('PRAGMA journal_mode = WAL');
    db.exec(`PRAGMA synchronous = ${synchronous}`);
    db.exec(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`);
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    db.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

/** SQLite as Node ships it from 22.5 on, else from a package with the same interface. */
function loadEngine(): typeof DatabaseSync {
  const require = createRequire(import.meta.url);
  try {
    return require('node:sqlite').DatabaseSync;
  } catch {
    // This Node has none of its own.
  }
  try {
    return require('@photostructure/sqlite').DatabaseSync;
  } catch (cause) {
    throw new Error('the embedded store needs Node 22.5 or newer, or the package @photostructure/sqlite', {
      cause,
    });
  }
}
