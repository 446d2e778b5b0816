import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { openMongoStore } from '../../control-plane/storage/mongo-store.ts';
import { type MongoTestServer, startMongoServer } from '../support/mongo-server.ts';
import { chargingContract } from './charging-contract.ts';

describe('on a MongoDB-wire server', () => {
  let server: MongoTestServer;
  beforeAll(async () => {
    server = await startMongoServer();
  }, 200_000);
  afterAll(() => server?.stop());

  chargingContract(() =>
    openMongoStore({ url: server.url, database: `charging_${randomBytes(6).toString('hex')}` }),
  );
});
