import { type Db, MongoClient } from 'mongodb';
import { type Clock, systemClock, withDeadline } from '../../shared/time.ts';
import { type Collection, type Document, type Store, StoreUnavailable } from './collection.ts';
import { MongoCollection } from './mongo-collection.ts';
import { portError } from './mongo-errors.ts';

const CONNECT_LIMIT_MS = 1_500;
const PING_LIMIT_MS = 1_700;
const CLOSE_LIMIT_MS = 2_000;
// The monitor finds a hung server within this beat plus the connect limit, and frees what waits for it.
const MONITOR_BEAT_MS = 1_000;
const SOCKET_IDLE_LIMIT_MS = 60_000;
const MAX_CONNECTIONS = 50;

interface MongoStoreOptions {
  /** `mongodb://` or `mongodb+srv://`, with credentials and TLS options where the server wants them. */
  readonly url: string;
  readonly database: string;
  readonly clock?: Clock;
}

/** A store in MongoDB 4.4 or newer, or what speaks its protocol. Throws `StoreUnavailable` when it doesn't answer. */
export async function openMongoStore(options: MongoStoreOptions): Promise<Store> {
  const { clock = systemClock } = options;
  const client = new MongoClient(options.url, {
    serverSelectionTimeoutMS: CONNECT_LIMIT_MS,
    connectTimeoutMS: CONNECT_LIMIT_MS,
    waitQueueTimeoutMS: CONNECT_LIMIT_MS,
    heartbeatFrequencyMS: MONITOR_BEAT_MS,
    socketTimeoutMS: SOCKET_IDLE_LIMIT_MS,
    maxPoolSize: MAX_CONNECTIONS,
    writeConcern: { w: 'majority', journal: true },
    ignoreUndefined: true,
  });
  const store = storeOf(client, client.db(options.database), clock);
  try {
    await store.ping();
    return store;
  } catch (error) {
    // Why it couldn't be reached matters more than how closing went.
    await store.close().catch(() => {});
    throw error;
  }
}

function storeOf(client: MongoClient, db: Db, clock: Clock): Store {
  function collection<T extends Document>(name: string): Collection<T> {
    return new MongoCollection<T>(db.collection<Document>(name), clock);
  }

  async function ping(): Promise<void> {
    try {
      await withDeadline(clock, 'MongoDB', PING_LIMIT_MS, db.command({ ping: 1 }));
    } catch (error) {
      throw portError('ping', error);
    }
  }

  async function close(): Promise<void> {
    try {
      await withDeadline(clock, 'closing MongoDB', CLOSE_LIMIT_MS, client.close(true));
    } catch (error) {
      throw new StoreUnavailable(error);
    }
  }

  return { collection, ping, close };
}
