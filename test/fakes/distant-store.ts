import { setImmediate } from 'node:timers/promises';
import type { Collection, Document, Store } from '../../control-plane/storage/collection.ts';

/**
 * The same store as if it were behind a network: each operation takes effect a turn of the event loop after its call
 * and answers another turn later, so that parallel requests interleave between any two of them.
 */
export function createDistantStore(store: Store): Store {
  return {
    collection: <T extends Document>(name: string): Collection<T> =>
      new Proxy(store.collection<T>(name), {
        get: (target, property) => {
          const operation: unknown = Reflect.get(target, property);
          if (typeof operation !== 'function') return operation;
          return async (...args: unknown[]) => {
            await setImmediate();
            const answer: unknown = await Reflect.apply(operation, target, args);
            await setImmediate();
            return answer;
          };
        },
      }),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}
