import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { openMongoStore } from '../../control-plane/storage/mongo-store.ts';
import { type MongoTestServer, startMongoServer } from '../support/mongo-server.ts';
import { migrationContract } from './migration-contract.ts';

describe('on a MongoDB-wire server', () => {
  let server: MongoTestServer;
  beforeAll(async () => {
    server = await startMongoServer();
  }, 200_000);
  afterAll(() => server?.stop());

  migrationContract(async () => {
    const database = `migration_${randomBytes(6).toString('hex')}`;
    const store = await openMongoStore({ url: server.url, database });
    return { store, processArgs: [server.url, database], remove: () => store.close() };
  });
});
