import { randomBytes } from 'node:crypto';
import { setTimeout as pauseMs } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Coordination, CoordinationUnavailable } from '../../control-plane/coordination/coordination.ts';
import { openRedisCoordination } from '../../control-plane/coordination/redis-coordination.ts';
import { silentLogger } from '../../shared/log.ts';
import { type RedisTestServer, startRedisServer } from '../support/redis-server.ts';
import { coordinationContract, worker } from './coordination-contract.ts';

const LONG_MS = 60_000;
/** The port's 1 s and something for a busy machine. */
const ANSWER_LIMIT_MS = 1_200;
const RECOVERY_LIMIT_MS = 5_000;

const openAt = (url: string, prefix = randomBytes(6).toString('hex')) =>
  openRedisCoordination({ url, prefix, log: silentLogger });

describe('coordination in Redis', () => {
  let server: RedisTestServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server?.stop());

  coordinationContract(async () => ({
    coordination: await openAt(server.url),
    // The server has a clock of its own.
    passMs: (ms) => pauseMs(ms),
  }));

  test('replicas share workers, slots and hits; installations of other prefixes see nothing of it', async () => {
    const left = await openAt(server.url, 'shared');
    const right = await openAt(server.url, 'shared');
    const other = await openAt(server.url, 'other');
    await left.heartbeat(worker({ capacity: 10 }), 'left', LONG_MS);

    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => (i % 2 ? left : right).reserveSlot('w1', `s${i}`, LONG_MS)),
    );
    await left.hit('k', 1, LONG_MS);
    const seen = [await right.hit('k', 1, LONG_MS), await other.hit('k', 1, LONG_MS)];
    const workers = await other.liveWorkers();
    for (const coordination of [left, right, other]) await coordination.close();

    expect(answers.filter(Boolean)).toHaveLength(10);
    expect(seen).toEqual([false, true]);
    expect(workers).toEqual([]);
  });
});

describe('coordination in a Redis that fails', () => {
  // Servers and clients end with their test, also when it fails.
  async function setUp(port?: number) {
    const server = await startRedisServer(port === undefined ? {} : { port });
    onTestFinished(() => server.stop());
    return server;
  }

  async function connect(url: string) {
    const coordination = await openAt(url);
    onTestFinished(() => coordination.close());
    return coordination;
  }

  const everything = (coordination: Coordination) => [
    coordination.heartbeat(worker(), 'cp1', LONG_MS),
    coordination.removeWorker('w2'),
    coordination.liveWorkers(),
    coordination.reserveSlot('w1', 's1', LONG_MS),
    coordination.releaseSlot('w1', 's1'),
    coordination.locate('s1'),
    coordination.hit('k', 1, LONG_MS),
    coordination.ping(),
  ];

  /** How long `work` took to fail, and with what. */
  async function failure(work: Promise<unknown>) {
    const startMs = performance.now();
    const error = await work.then(
      () => null,
      (cause: unknown) => cause,
    );
    return { error, tookMs: performance.now() - startMs };
  }

  async function expectAllUnavailable(coordination: Coordination) {
    for (const { error, tookMs } of await Promise.all(everything(coordination).map(failure))) {
      expect(error).toBeInstanceOf(CoordinationUnavailable);
      expect(tookMs).toBeLessThan(ANSWER_LIMIT_MS);
    }
  }

  /** Waits until Redis answers again. */
  async function recovered(coordination: Coordination) {
    const startMs = performance.now();
    while ((await failure(coordination.ping())).error !== null) {
      expect(performance.now() - startMs).toBeLessThan(RECOVERY_LIMIT_MS);
      await pauseMs(20);
    }
  }

  test('nobody listening is CoordinationUnavailable within 1 s', async () => {
    const server = await setUp();
    await server.stop();

    const { error, tookMs } = await failure(openAt(server.url));

    expect(error).toBeInstanceOf(CoordinationUnavailable);
    expect(tookMs).toBeLessThan(ANSWER_LIMIT_MS);
  });

  test('after a kill every operation fails; after a restart one heartbeat rebuilds all', async () => {
    const first = await setUp();
    const coordination = await connect(first.url);
    const status = worker({ capacity: 3, occupied: 2, sessionIds: ['s1', 's2'] });
    await coordination.heartbeat(status, 'cp1', LONG_MS);
    await first.stop();
    await expectAllUnavailable(coordination);

    await setUp(first.port);
    await recovered(coordination);
    const before = [await coordination.liveWorkers(), await coordination.locate('s1')];
    await coordination.heartbeat(status, 'cp1', LONG_MS);

    expect(before).toEqual([[], null]);
    expect(await coordination.locate('s2')).toEqual({ workerId: 'w1', controlPlaneId: 'cp1' });
    expect(await coordination.reserveSlot('w1', 's3', LONG_MS)).toBe(true);
    expect(await coordination.reserveSlot('w1', 's4', LONG_MS)).toBe(false);
  });

  test('a server that hangs fails every operation within 1 s and works again when it goes on', async () => {
    const server = await setUp();
    const coordination = await connect(server.url);
    await coordination.heartbeat(worker({ capacity: 1 }), 'cp1', LONG_MS);
    server.pause();

    await expectAllUnavailable(coordination);
    await pauseMs(1_200);
    await expectAllUnavailable(coordination);
    server.resume();
    await recovered(coordination);

    await coordination.heartbeat(worker({ capacity: 1 }), 'cp1', LONG_MS);
    expect(await coordination.liveWorkers()).toHaveLength(1);
  });

  test('a server that forgot the scripts is told them again', async () => {
    const server = await setUp();
    const coordination = await connect(server.url);
    await coordination.hit('k', 5, LONG_MS);
    const admin = new Redis(server.url);
    await admin.script('FLUSH');
    admin.disconnect();

    expect(await coordination.hit('k', 1, LONG_MS)).toBe(false);
  });
});
