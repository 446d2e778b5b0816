import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openRedisCoordination } from '../../control-plane/coordination/redis-coordination.ts';
import { openMongoStore } from '../../control-plane/storage/mongo-store.ts';
import { silentLogger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';
import { FakeWorker } from '../fakes/fake-worker.ts';
import { eventually } from '../support/eventually.ts';
import { type MongoTestServer, startMongoServer } from '../support/mongo-server.ts';
import { type RedisTestServer, startRedisServer } from '../support/redis-server.ts';
import { type EveryRoute, type Ids, startEveryRoute } from './every-route-setup.ts';

/** 2 s, and what the two machines under test take from each other. */
const LIMIT_MS = 2_300;

let mongo: MongoTestServer;
let redis: RedisTestServer;
let api: EveryRoute;
let own: Ids;
/** What is sent while the store hangs may still happen to these when it is back. */
let atRisk: Ids;
beforeAll(async () => {
  [mongo, redis] = await Promise.all([startMongoServer(), startRedisServer()]);
  api = await startEveryRoute({
    store: await openMongoStore({ url: mongo.url, database: 'outage' }),
    coordination: await openRedisCoordination({ url: redis.url, log: silentLogger, clock: systemClock }),
  });
  own = await api.makeOneOfEach();
  atRisk = await api.makeOneOfEach();
}, 240_000);
afterAll(async () => {
  mongo?.resume();
  redis?.resume();
  await api?.stop();
  await Promise.all([mongo?.stop(), redis?.stop()]);
});

const isReady = async () => (await api.send('GET', '/readyz')).status === 200 || null;
beforeEach(() => eventually('ready', 15_000, isReady));

async function timed(ask: () => ReturnType<EveryRoute['send']>) {
  const startedMs = performance.now();
  const { status } = await ask();
  return { status, tookMs: performance.now() - startedMs };
}

/** What the public may ask and what a key may ask, by name. */
function publicSession() {
  const body = JSON.stringify({ agent_id: own['agent_id'] });
  return api.send('POST', '/v1/agent/sessions', body, {
    origin: 'https://www.example.com',
    'content-type': 'application/json',
  });
}

test('while MongoDB hangs every operation answers 503 within 2 s, and works when it is back', async () => {
  const operations = api.operations.filter(
    ({ needsKey, path }) => needsKey && !path.includes('available-phone-numbers'),
  );
  mongo.pause();
  const replies = await Promise.all(
    operations.map(async (operation) => ({
      name: operation.name,
      ...(await timed(() => api.perform(operation, atRisk))),
    })),
  );
  const ready = await timed(() => api.send('GET', '/readyz'));
  mongo.resume();

  expect(replies.filter(({ status }) => status !== 503)).toEqual([]);
  expect(replies.filter(({ tookMs }) => tookMs > LIMIT_MS)).toEqual([]);
  expect(ready.status).toBe(503);
  expect(ready.tookMs).toBeLessThan(LIMIT_MS);
  await eventually('ready', 15_000, isReady);
  expect((await api.call('GET', `/v1/agent/agents/${own['agent_id']}`)).status).toBe(200);
});

test('while Redis hangs public sessions are 503 within 2 s, a key still gets one, and records stay readable', async () => {
  const worker = new FakeWorker(api.addresses.grpcPort);
  onTestFinished(() => worker.close());
  await eventually('the worker is linked', 5_000, () => worker.heardOf('welcome')[0] ?? null);
  await api.call('PATCH', `/v1/agent/agents/${own['agent_id']}`, {
    public_enabled: true,
    allowed_origins: ['https://www.example.com'],
  });
  redis.pause();
  const ofPublic = await timed(publicSession);
  const ofKey = await timed(() =>
    api.send('POST', '/v1/agent/sessions', JSON.stringify({ agent_id: own['agent_id'] })),
  );
  const read = await api.call('GET', `/v1/agent/agents/${own['agent_id']}`);
  redis.resume();

  expect([ofPublic.status, ofKey.status, read.status]).toEqual([503, 201, 200]);
  expect(Math.max(ofPublic.tookMs, ofKey.tookMs)).toBeLessThan(LIMIT_MS);
});
