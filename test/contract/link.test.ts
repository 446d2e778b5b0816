import { afterEach, expect, test, vi } from 'vitest';
import { MemoryCoordination } from '../../control-plane/coordination/memory-coordination.ts';
import { createPlacement } from '../../control-plane/dispatch/placement.ts';
import { createControlCalls } from '../../media-worker/coordination/control-calls.ts';
import { Failure } from '../../shared/errors.ts';
import { silentLogger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';
import { FakeWorker } from '../fakes/fake-worker.ts';
import { sessionSpec } from '../fakes/fake-worker-session.ts';
import { Cleanups, noCoordination, startControlPlane, startWorker, tempDir } from './link-fixture.ts';
import { createLinkProxy } from './link-proxy.ts';

const cleanups = new Cleanups();
afterEach(() => cleanups.run());

const soon = { timeout: 5_000, interval: 10 };

test('a worker takes a session, gives it back, ends it and drains', async () => {
  const { link, port } = await startControlPlane(cleanups);
  const ended: [string, string][] = [];
  const { admission } = await startWorker(cleanups, {
    ports: [port],
    dir: await tempDir(cleanups),
    capacity: 2,
    handlers: {
      end: (sessionId, endReason) => {
        ended.push([sessionId, endReason]);
        return admission.holds(sessionId);
      },
    },
  });
  await expect.poll(() => link.linkedWorkers().length, soon).toBe(1);

  expect(await link.reserve('worker-1', sessionSpec('a'), 1_000)).toEqual({ isAccepted: true });
  expect(await link.reserve('worker-1', sessionSpec('a'), 1_000)).toEqual({
    isAccepted: false,
    refusal: 'duplicate',
  });
  expect(await link.reserve('worker-1', sessionSpec('b'), 1_000)).toEqual({ isAccepted: true });
  expect(await link.reserve('worker-1', sessionSpec('c'), 1_000)).toEqual({
    isAccepted: false,
    refusal: 'full',
  });
  expect(await link.end('a', 'user_hangup')).toBe(true);
  expect(await link.end('unknown', 'user_hangup')).toBe(false);
  expect(ended).toEqual([
    ['a', 'user_hangup'],
    ['unknown', 'user_hangup'],
  ]);

  link.release('worker-1', 'b');
  await expect.poll(() => admission.sessionIds(), soon).toEqual(['a']);
  expect(link.drain('worker-1')).toBe(true);
  await expect.poll(() => link.linkedWorkers()[0]?.isDraining, soon).toBe(true);
  expect(await link.reserve('worker-1', sessionSpec('d'), 1_000)).toEqual({
    isAccepted: false,
    refusal: 'draining',
  });
  expect(await link.reserve('worker-2', sessionSpec('d'), 1_000)).toEqual({
    isAccepted: false,
    refusal: 'unreachable',
  });
});

test('a worker that answers too late is told to give the slot back', async () => {
  const { link, port } = await startControlPlane(cleanups);
  const worker = new FakeWorker(port);
  cleanups.add(async () => worker.close());
  worker.answersReserve = false;
  await expect.poll(() => worker.heardOf('welcome').length, soon).toBe(1);

  const outcome = await link.reserve('worker-1', sessionSpec('late'), 50);

  expect(outcome).toEqual({ isAccepted: false, refusal: 'unreachable' });
  await expect.poll(() => worker.heardOf('release'), soon).toEqual([{ sessionId: 'late' }]);
});

test('a pending reservation fails at once when the worker goes', async () => {
  const { link, port } = await startControlPlane(cleanups);
  const worker = new FakeWorker(port);
  worker.answersReserve = false;
  await expect.poll(() => worker.heardOf('welcome').length, soon).toBe(1);

  const pending = link.reserve('worker-1', sessionSpec('a'), 60_000);
  await expect.poll(() => worker.heardOf('reserve').length, soon).toBe(1);
  worker.close();

  expect(await pending).toEqual({ isAccepted: false, refusal: 'unreachable' });
});

test('300 sessions placed in parallel never exceed the capacity', async () => {
  const coordination = new MemoryCoordination(systemClock);
  const { link, port } = await startControlPlane(cleanups, { coordination });
  const workers = ['w1', 'w2', 'w3'].map((workerId) => new FakeWorker(port, { workerId, capacity: 50 }));
  for (const worker of workers) cleanups.add(async () => worker.close());
  await expect.poll(() => link.linkedWorkers().length, soon).toBe(3);
  const placement = createPlacement({ link, coordination, random: Math.random, log: silentLogger });

  const results = await Promise.allSettled(
    Array.from({ length: 300 }, (_, index) => placement.place(sessionSpec(`session-${index}`))),
  );

  expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(150);
  expect(workers.map((worker) => worker.mostHeld)).toEqual([50, 50, 50]);
  expect(results.find((r) => r.status === 'rejected')?.reason).toMatchObject({
    kind: 'upstream_failed',
    message: 'Agent gateway is unreachable',
  });
});

test('300 reservations in parallel at one real worker fill it to its cap and no further', async () => {
  const { link, port } = await startControlPlane(cleanups);
  const { admission } = await startWorker(cleanups, {
    ports: [port],
    dir: await tempDir(cleanups),
    capacity: 40,
  });
  await expect.poll(() => link.linkedWorkers().length, soon).toBe(1);

  const outcomes = await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      link.reserve('worker-1', sessionSpec(`session-${index}`), 5_000),
    ),
  );

  expect(outcomes.filter((outcome) => outcome.isAccepted)).toHaveLength(40);
  expect(admission.occupied).toBe(40);
});

test('heartbeats rebuild coordination that has lost everything', async () => {
  const memory = { now: new MemoryCoordination(systemClock) };
  const { link, port } = await startControlPlane(cleanups, {
    coordination: {
      heartbeat: (...args) => memory.now.heartbeat(...args),
      removeWorker: (...args) => memory.now.removeWorker(...args),
      locate: (...args) => memory.now.locate(...args),
    },
  });
  await startWorker(cleanups, { ports: [port], dir: await tempDir(cleanups) });
  await expect.poll(() => link.linkedWorkers().length, soon).toBe(1);
  await link.reserve('worker-1', sessionSpec('a'), 1_000);
  await expect.poll(() => memory.now.locate('a'), soon).toMatchObject({ workerId: 'worker-1' });

  memory.now = new MemoryCoordination(systemClock);

  await expect
    .poll(() => memory.now.liveWorkers(), soon)
    .toMatchObject([
      { workerId: 'worker-1', controlPlaneId: 'control-plane-1', occupied: 1, sessionIds: ['a'] },
    ]);
  expect(await memory.now.locate('a')).toMatchObject({ workerId: 'worker-1' });
});

test('a worker that stops says goodbye and leaves the directory; one that breaks off stays until its beats run out', async () => {
  const removed: string[] = [];
  const lost = vi.fn();
  const { link, port } = await startControlPlane(cleanups, {
    coordination: { ...noCoordination, removeWorker: async (workerId) => void removed.push(workerId) },
  });
  link.onWorkerLost(lost);
  const [leaving, breaking] = ['leaving', 'breaking'].map((workerId) => new FakeWorker(port, { workerId }));
  await expect.poll(() => link.linkedWorkers().length, soon).toBe(2);
  breaking?.beat({ sessionIds: ['s1'] });
  await expect.poll(() => link.linkedWorkers().flatMap((w) => w.sessionIds), soon).toEqual(['s1']);

  leaving?.goodbye();
  breaking?.close();

  await expect.poll(() => link.linkedWorkers(), soon).toEqual([]);
  expect(removed).toEqual(['leaving']);
  expect(lost.mock.calls).toEqual(
    expect.arrayContaining([
      ['leaving', []],
      ['breaking', ['s1']],
    ]),
  );
  leaving?.close();
});

test('a worker that says nothing more is lost after three beats', async () => {
  const { link, port } = await startControlPlane(cleanups, { heartbeatIntervalMs: 50 });
  const worker = new FakeWorker(port);
  cleanups.add(async () => worker.close());
  const lost = vi.fn();
  link.onWorkerLost(lost);

  await expect.poll(() => lost.mock.calls, soon).toEqual([['worker-1', []]]);
  await expect.poll(() => worker.endCode, soon).toBe(4);
});

test('a stream that does not begin with a hello is refused', async () => {
  const { link, port } = await startControlPlane(cleanups);
  const worker = new FakeWorker(port, { sayHello: false });
  cleanups.add(async () => worker.close());

  worker.beat();

  await expect.poll(() => worker.endCode, soon).toBe(3);
  expect(link.linkedWorkers()).toEqual([]);
});

test('a second link of the same worker replaces the first and loses nothing', async () => {
  const { link, port } = await startControlPlane(cleanups);
  const lost = vi.fn();
  link.onWorkerLost(lost);
  const [first, second] = [new FakeWorker(port), new FakeWorker(port, { sayHello: false })];
  for (const worker of [first, second]) cleanups.add(async () => worker.close());
  await expect.poll(() => first.heardOf('welcome').length, soon).toBe(1);

  second.hello(['kept']);

  await expect.poll(() => first.endCode, soon).toBe(0);
  expect(link.linkedWorkers()).toMatchObject([{ workerId: 'worker-1', sessionIds: ['kept'] }]);
  expect((await link.reserve('worker-1', sessionSpec('a'), 1_000)).isAccepted).toBe(true);
  expect(second.held).toEqual(new Set(['a']));
  expect(lost).not.toHaveBeenCalled();
});

test('both sides notice a peer that hangs within 5 s, and link again when it is back', async () => {
  const { link, port } = await startControlPlane(cleanups, { heartbeatIntervalMs: 30_000 });
  const proxy = await createLinkProxy(() => port);
  cleanups.add(proxy.close);
  const { links } = await startWorker(cleanups, { ports: [proxy.port], dir: await tempDir(cleanups) });
  await expect.poll(() => [links.upCount, link.linkedWorkers().length], soon).toEqual([1, 1]);

  proxy.freeze();
  const frozenAtMs = performance.now();
  await expect.poll(() => [links.upCount, link.linkedWorkers().length], soon).toEqual([0, 0]);
  expect(performance.now() - frozenAtMs).toBeLessThan(5_000);

  proxy.thaw();
  await expect
    .poll(() => [links.upCount, link.linkedWorkers().length], { ...soon, timeout: 10_000 })
    .toEqual([1, 1]);
});

test('ending a session whose worker is linked elsewhere says that it can not be known', async () => {
  const { link } = await startControlPlane(cleanups, {
    coordination: { ...noCoordination, locate: async () => ({ workerId: 'away', controlPlaneId: 'other' }) },
  });

  await expect(link.end('a', 'user_hangup')).rejects.toMatchObject({ kind: 'upstream_failed' });
});

test('a worker asks whose key it is, and reads why not', async () => {
  const { port } = await startControlPlane(cleanups, {
    authenticate: async (apiKey) => {
      if (apiKey === 'good') return { workspaceId: 'w', userId: 'u', keyId: 'k' };
      if (apiKey === 'old') throw new Failure('invalid_token', 'Token expired');
      throw new Error('database at 10.0.0.1 is down');
    },
  });
  const calls = createControlCalls({
    listAddresses: async () => [
      { target: '127.0.0.1:1', serverName: null },
      { target: `127.0.0.1:${port}`, serverName: null },
    ],
    certificates: null,
    clock: systemClock,
  });
  cleanups.add(async () => calls.close());

  expect(await calls.authenticateKey('good')).toEqual({
    workspaceId: 'w',
    userId: 'u',
    keyId: 'k',
    isOutOfCredit: false,
  });
  await expect(calls.authenticateKey('old')).rejects.toMatchObject({
    kind: 'invalid_token',
    message: 'Token expired',
  });
  await expect(calls.authenticateKey('x')).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'Service is briefly unavailable',
  });
});
