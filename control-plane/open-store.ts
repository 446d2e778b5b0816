import { join } from 'node:path';
import { type Logger, silentLogger } from '../shared/log.ts';
import type { Clock } from '../shared/time.ts';
import type { ControlPlaneSettings } from './config.ts';
import type { Store } from './storage/collection.ts';
import { openEmbeddedStore } from './storage/embedded-store.ts';
import { migrate } from './storage/migrate.ts';
import { openMongoStore } from './storage/mongo-store.ts';
import { withSchemaVersions } from './storage/schema-version.ts';

type StoreSettings = Pick<
  ControlPlaneSettings,
  'MONGO_URL' | 'MONGO_DATABASE' | 'PARLEY_DATA_DIR' | 'PARLEY_STORE_SYNCHRONOUS'
>;

/**
 * The store that the settings choose, its documents brought to today's schema. Throws when it can't be opened, and
 * `NewerSchema` when a newer program has written it.
 */
export async function openStore(
  settings: StoreSettings,
  clock: Clock,
  log: Logger = silentLogger,
): Promise<Store> {
  const store = await openChosen(settings, clock);
  try {
    await migrate(store, log);
    return withSchemaVersions(store);
  } catch (error) {
    await store.close().catch(() => {});
    throw error;
  }
}

async function openChosen(settings: StoreSettings, clock: Clock): Promise<Store> {
  if (settings.MONGO_URL !== '') {
    return openMongoStore({ url: settings.MONGO_URL, database: settings.MONGO_DATABASE, clock });
  }
  return openEmbeddedStore({
    file: join(settings.PARLEY_DATA_DIR, 'parley.db'),
    synchronous: settings.PARLEY_STORE_SYNCHRONOUS,
    clock,
  });
}
