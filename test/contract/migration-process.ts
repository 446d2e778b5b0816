import type { Collection, Document, Store } from '../../control-plane/storage/collection.ts';
import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';
import { migrate } from '../../control-plane/storage/migrate.ts';
import { openMongoStore } from '../../control-plane/storage/mongo-store.ts';
import { silentLogger } from '../../shared/log.ts';

/**
 * Runs the migrations on a store, given as its file, or as the address and the name of a database, and prints a number
 * for each session it has changed.
 */
const [where = '', database = ''] = process.argv.slice(2);
const store = where.startsWith('mongodb:')
  ? await openMongoStore({ url: where, database })
  : openEmbeddedStore({ file: where, synchronous: 'NORMAL' });

let count = 0;
const counting: Store = {
  ...store,
  collection: <T extends Document>(name: string): Collection<T> => {
    const inner = store.collection<T>(name);
    const updateOne: Collection<T>['updateOne'] = async (...args) => {
      const matched = await inner.updateOne(...args);
      if (name === 'sessions' && matched > 0) process.stdout.write(`${++count}\n`);
      return matched;
    };
    return new Proxy(inner, {
      get: (target, property) => {
        if (property === 'updateOne') return updateOne;
        const value: unknown = Reflect.get(target, property);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  },
};
await migrate(counting, silentLogger);
await store.close();
