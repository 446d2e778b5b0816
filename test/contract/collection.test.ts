import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';
import { collectionContract } from './collection-contract.ts';

describe('the embedded store', () => {
  collectionContract(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-store-'));
    const store = openEmbeddedStore({ file: join(folder, 'store.db'), synchronous: 'NORMAL' });
    return {
      store,
      close: async () => {
        await store.close();
        await rm(folder, { recursive: true });
      },
    };
  });
});
