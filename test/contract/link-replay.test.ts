import { readdir } from 'node:fs/promises';
import { afterEach, expect, test } from 'vitest';
import { EventOutbox } from '../../media-worker/coordination/event-outbox.ts';
import { silentLogger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';
import { FakeWorker } from '../fakes/fake-worker.ts';
import { sessionSpec } from '../fakes/fake-worker-session.ts';
import {
  Cleanups,
  EventStore,
  ended,
  item,
  startControlPlane,
  startWorker,
  tempDir,
  upTo,
} from './link-fixture.ts';
import { createLinkProxy } from './link-proxy.ts';

const cleanups = new Cleanups();
afterEach(() => cleanups.run());

const soon = { timeout: 8_000, interval: 10 };

test('events are stored in order, each once, and the slot is free when the record is stored', async () => {
  const store = new EventStore();
  const { link, port } = await startControlPlane(cleanups, { applyEvent: store.apply });
  const { admission, outbox, settled } = await startWorker(cleanups, {
    ports: [port],
    dir: await tempDir(cleanups),
  });
  await expect.poll(() => link.linkedWorkers().length, soon).toBe(1);
  await link.reserve('worker-1', sessionSpec('a'), 1_000);

  for (let n = 1; n < 200; n++) outbox.publish('a', item(`n${n}`));
  expect(outbox.isSettled('a')).toBe(false);
  outbox.publish('a', ended);
  expect(admission.occupied).toBe(1);

  await expect.poll(() => settled, soon).toEqual(['a']);
  expect(store.bySession.get('a')).toEqual(upTo(200));
  expect(store.repeats).toBe(0);
  expect(outbox.isSettled('a')).toBe(true);
  expect(outbox.isEmpty).toBe(true);
  expect(admission.occupied).toBe(0);
});

test('a restart of the control plane loses no event, applies none twice and keeps the sessions', async () => {
  const store = new EventStore();
  const first = await startControlPlane(cleanups, { applyEvent: store.apply });
  const { outbox, admission } = await startWorker(cleanups, {
    ports: [first.port],
    dir: await tempDir(cleanups),
  });
  await expect.poll(() => first.link.linkedWorkers().length, soon).toBe(1);
  await first.link.reserve('worker-1', sessionSpec('a'), 1_000);
  await first.link.reserve('worker-1', sessionSpec('b'), 1_000);

  for (let n = 0; n < 50; n++) for (const id of ['a', 'b']) outbox.publish(id, item('before'));
  const stopping = first.link.stop();
  for (let n = 0; n < 50; n++) for (const id of ['a', 'b']) outbox.publish(id, item('meanwhile'));
  await stopping;
  for (let n = 0; n < 50; n++) for (const id of ['a', 'b']) outbox.publish(id, item('down'));
  const linked: (readonly string[])[] = [];
  const second = await startControlPlane(cleanups, { applyEvent: store.apply, port: first.port });
  second.link.onWorkerLinked((_workerId, sessionIds) => linked.push(sessionIds));
  for (let n = 0; n < 50; n++) for (const id of ['a', 'b']) outbox.publish(id, item('after'));

  await expect.poll(() => outbox.isEmpty, soon).toBe(true);
  expect(store.bySession.get('a')).toEqual(upTo(200));
  expect(store.bySession.get('b')).toEqual(upTo(200));
  expect(linked).toEqual([['a', 'b']]);
  expect(admission.sessionIds()).toEqual(['a', 'b']);
});

test('connections cut again and again in the middle of storing lose nothing', async () => {
  const store = new EventStore();
  const { port } = await startControlPlane(cleanups, { applyEvent: store.apply });
  const proxy = await createLinkProxy(() => port);
  cleanups.add(proxy.close);
  const { outbox, links } = await startWorker(cleanups, {
    ports: [proxy.port],
    dir: await tempDir(cleanups),
  });

  for (let round = 1; round <= 5; round++) {
    await expect.poll(() => links.upCount, soon).toBe(1);
    for (let n = 0; n < 100; n++) outbox.publish('a', item(`round ${round}`));
    await expect.poll(() => store.count(), soon).toBeGreaterThan((round - 1) * 100);
    proxy.cut();
    await expect.poll(() => links.upCount, soon).toBe(0);
  }

  await expect.poll(() => outbox.isEmpty, soon).toBe(true);
  expect(store.bySession.get('a')).toEqual(upTo(500));
});

test('a store that fails gets the events again and nothing crashes', async () => {
  const store = new EventStore();
  const { link, port } = await startControlPlane(cleanups, { applyEvent: store.apply });
  const { outbox } = await startWorker(cleanups, { ports: [port], dir: await tempDir(cleanups) });
  await expect.poll(() => link.linkedWorkers().length, soon).toBe(1);

  store.isDown = true;
  for (let n = 0; n < 20; n++) outbox.publish('a', item('while down'));
  await expect.poll(() => store.calls, soon).toBeGreaterThan(0);
  store.isDown = false;
  for (let n = 0; n < 20; n++) outbox.publish('a', item('after'));

  await expect.poll(() => outbox.isEmpty, soon).toBe(true);
  expect(store.bySession.get('a')).toEqual(upTo(40));
  expect(link.linkedWorkers()).toHaveLength(1);
});

test('no event is acknowledged before it is stored, and none behind one that was not', async () => {
  const asked: number[] = [];
  const gates: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const { port } = await startControlPlane(cleanups, {
    heartbeatIntervalMs: 60_000,
    applyEvent: (_workerId, event) => {
      asked.push(event.sequence);
      return new Promise((resolve, reject) => gates.push({ resolve, reject }));
    },
  });
  const worker = new FakeWorker(port);
  cleanups.add(async () => worker.close());
  const acked = () => worker.heardOf('eventAck').map((ack) => ack.sequence);

  for (const sequence of [1, 2, 3]) worker.event('a', sequence);
  await expect.poll(() => asked, soon).toEqual([1]);
  expect(acked()).toEqual([]);
  gates[0]?.resolve();
  await expect.poll(() => asked, soon).toEqual([1, 2]);
  expect(acked()).toEqual([1]);
  gates[1]?.reject(new Error('down'));
  await expect.poll(() => asked.length, soon).toBe(2);
  worker.event('a', 4);
  worker.event('b', 1);
  await expect.poll(() => asked, soon).toEqual([1, 2, 1]);
  gates[2]?.resolve();
  await expect.poll(acked, soon).toEqual([1, 1]);

  for (const sequence of [2, 3, 4]) worker.event('a', sequence);
  await expect.poll(() => asked, soon).toEqual([1, 2, 1, 2]);
  gates[3]?.resolve();
  await expect.poll(() => asked, soon).toEqual([1, 2, 1, 2, 3]);
  gates[4]?.resolve();
  await expect.poll(acked, soon).toEqual([1, 1, 2, 3]);
  expect(asked).toEqual([1, 2, 1, 2, 3, 4]);
});

test('with two control planes both command the worker, and events go on over the other when one dies', async () => {
  const store = new EventStore();
  const one = await startControlPlane(cleanups, { applyEvent: store.apply, controlPlaneId: 'one' });
  const two = await startControlPlane(cleanups, { applyEvent: store.apply, controlPlaneId: 'two' });
  const { outbox, links, admission } = await startWorker(cleanups, {
    ports: [one.port, two.port],
    dir: await tempDir(cleanups),
  });
  await expect.poll(() => links.upCount, soon).toBe(2);

  expect((await one.link.reserve('worker-1', sessionSpec('a'), 1_000)).isAccepted).toBe(true);
  expect(await two.link.end('a', 'user_hangup')).toBe(true);
  for (let n = 0; n < 30; n++) outbox.publish('a', item('x'));
  await one.link.stop();
  for (let n = 0; n < 30; n++) outbox.publish('a', item('y'));

  await expect.poll(() => outbox.isEmpty, soon).toBe(true);
  expect(store.bySession.get('a')).toEqual(upTo(60));
  expect((await two.link.reserve('worker-1', sessionSpec('b'), 1_000)).isAccepted).toBe(true);
  expect(admission.sessionIds()).toEqual(['a', 'b']);
});

test('a long outage goes through the disk and comes back complete and in order', async () => {
  const store = new EventStore();
  const dir = await tempDir(cleanups);
  let target = 1;
  const proxy = await createLinkProxy(() => target);
  cleanups.add(proxy.close);
  const { outbox } = await startWorker(cleanups, {
    ports: [proxy.port],
    dir,
    outbox: { maxMemoryEvents: 50 },
  });

  for (let n = 0; n < 500; n++) for (const id of ['a', 'b']) outbox.publish(id, item(`n${n}`));
  await expect.poll(() => readdir(dir), soon).toHaveLength(1);
  target = (await startControlPlane(cleanups, { applyEvent: store.apply })).port;
  await expect.poll(() => store.count(), soon).toBeGreaterThan(10);
  for (let n = 0; n < 100; n++) outbox.publish('a', item('live'));

  await expect.poll(() => outbox.isEmpty, soon).toBe(true);
  expect(store.bySession.get('a')).toEqual(upTo(600));
  expect(store.bySession.get('b')).toEqual(upTo(500));
  await expect.poll(() => readdir(dir), soon).toEqual([]);
});

test('what a dead worker process left on disk is stored by the next one and then removed', async () => {
  const store = new EventStore();
  const dir = await tempDir(cleanups);
  const dead = new EventOutbox({
    dir,
    owner: { host: 'here', pid: 4_000_000, token: 'before', isAlive: () => true },
    clock: systemClock,
    log: silentLogger,
  });
  await dead.start();
  for (let n = 0; n < 30; n++) dead.publish('old', item(`n${n}`));
  dead.publish('old', ended);
  await dead.stop();

  const { port } = await startControlPlane(cleanups, { applyEvent: store.apply });
  const { outbox } = await startWorker(cleanups, {
    ports: [port],
    dir,
    outbox: { owner: { host: 'here', pid: 1, token: 'now', isAlive: (pid) => pid !== 4_000_000 } },
  });
  outbox.publish('new', item('x'));

  await expect.poll(() => outbox.isEmpty, soon).toBe(true);
  expect(store.bySession.get('old')).toEqual(upTo(31));
  expect(store.bySession.get('new')).toEqual([1]);
  await expect.poll(() => readdir(dir), soon).toEqual([]);
});
