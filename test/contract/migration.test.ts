import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';
import { migrationContract } from './migration-contract.ts';

describe('on the embedded store', () => {
  migrationContract(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-migration-'));
    const file = join(folder, 'store.db');
    const store = openEmbeddedStore({ file, synchronous: 'NORMAL' });
    return {
      store,
      processArgs: [file],
      remove: async () => {
        await store.close();
        await rm(folder, { recursive: true });
      },
    };
  });
});
