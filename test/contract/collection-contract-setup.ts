import type { Collection } from '../../control-plane/storage/collection.ts';

export interface Item {
  readonly _id: string;
  readonly [field: string]: unknown;
}

/** Where a server is known to be laxer than mongod, so that the promise isn't asked of it. */
export interface KnownLeniencies {
  /** Takes null for 0 in `$inc`, and for an empty object in a path. */
  readonly updatesNull?: boolean;
}

export type SetUp = (...docs: Item[]) => Promise<Collection<Item>>;

export const ids = (docs: readonly Item[]) => docs.map(({ _id }) => _id);

export function numbered(count: number): Item[] {
  return Array.from({ length: count }, (_, n) => ({
    _id: `i${String(n).padStart(4, '0')}`,
    n,
    owner: `o${n % 3}`,
  }));
}
