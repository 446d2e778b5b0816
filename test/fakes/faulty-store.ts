import {
  type Collection,
  type Document,
  type Store,
  StoreUnavailable,
} from '../../control-plane/storage/collection.ts';

/** Decides before each operation whether it fails; `after`: it takes effect and its answer is lost. */
export type Fault = (collection: string, operation: string) => 'before' | 'after' | null;

/** A store on top of another whose operations can be made to fail one by one. */
export function createFaultyStore(store: Store, faultOf: Fault): Store {
  function collection<T extends Document>(name: string): Collection<T> {
    const inner = store.collection<T>(name);
    return new Proxy(inner, {
      get(target, property) {
        const method: unknown = Reflect.get(target, property);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]) => {
          const fault = faultOf(name, String(property));
          if (fault === 'before') throw new StoreUnavailable();
          const answer: unknown = await method.apply(target, args);
          if (fault === 'after') throw new StoreUnavailable();
          return answer;
        };
      },
    });
  }
  return { collection, ping: () => store.ping(), close: () => store.close() };
}
