import type { Collection, Document, Store } from '../../control-plane/storage/collection.ts';

/**
 * A store as a process sees it that dies at its n-th operation, before or after it took effect: from then on nothing
 * answers any more. `onDeath` is called once.
 */
export function createMortalStore(
  store: Store,
  death: { readonly atOperation: number; readonly takesEffect: boolean; readonly onDeath: () => void },
): Store {
  let operations = 0;
  const never = () => new Promise<never>(() => {});

  function collection<T extends Document>(name: string): Collection<T> {
    return new Proxy(store.collection<T>(name), {
      get(target, property) {
        const method: unknown = Reflect.get(target, property);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]) => {
          operations++;
          if (operations > death.atOperation) return never();
          if (operations < death.atOperation) return Reflect.apply(method, target, args);
          if (death.takesEffect) await Reflect.apply(method, target, args);
          death.onDeath();
          return never();
        };
      },
    });
  }
  return { collection, ping: () => store.ping(), close: () => store.close() };
}
