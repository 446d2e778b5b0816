import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SessionEvent } from '../../shared/generated/parley/v1/worker_link.ts';
import { silentLogger } from '../../shared/log.ts';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { EventOutbox, type EventOutboxDeps, type SessionEventBody } from './event-outbox.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-outbox-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const item = (text = 'x'): SessionEventBody => ({ $case: 'timelineItem', value: { itemJson: text } });
const log = (size: number): SessionEventBody => ({
  $case: 'decisionLog',
  value: { lines: Buffer.alloc(size) },
});
const joined: SessionEventBody = { $case: 'joined', value: { protocol: 'livekit' } };
const ended: SessionEventBody = {
  $case: 'ended',
  value: { status: 'completed', endReason: 'user_hangup', startedAtMs: 1, endedAtMs: 2 },
};

async function setUp(overrides: Partial<EventOutboxDeps> = {}) {
  const clock = new FakeClock();
  const settled: string[] = [];
  const outbox = new EventOutbox({
    dir,
    owner: { host: 'here', pid: 7, token: crypto.randomUUID(), isAlive: () => false },
    clock,
    log: silentLogger,
    onSettled: (sessionId) => settled.push(sessionId),
    ...overrides,
  });
  await outbox.start();
  const sent: SessionEvent[] = [];
  const connect = () => outbox.connect((event) => sent.push(event));
  const names = () => sent.map((event) => `${event.sessionId}${event.sequence}`);
  return { clock, outbox, settled, sent, connect, names };
}

test('sequences count from 1 within each session, and time is the wall clock', async () => {
  const { outbox, connect, sent, clock } = await setUp();
  connect();

  outbox.publish('a', joined);
  outbox.publish('b', joined);
  outbox.publish('a', item());

  expect(sent.map((e) => [e.sessionId, e.sequence, e.atMs])).toEqual([
    ['a', 1, clock.nowMs()],
    ['b', 1, clock.nowMs()],
    ['a', 2, clock.nowMs()],
  ]);
});

test('a session is settled once its end and everything before it are acknowledged', async () => {
  const { outbox, connect, settled } = await setUp();
  connect();
  expect(outbox.isSettled('a')).toBe(true);
  outbox.publish('a', joined);
  outbox.acknowledge('a', 1);
  expect(outbox.isSettled('a')).toBe(false);

  outbox.publish('a', item());
  outbox.publish('a', ended);
  outbox.acknowledge('a', 2);
  expect(outbox.unsettledSessionIds()).toEqual(['a']);
  outbox.acknowledge('a', 3);
  outbox.acknowledge('a', 3);

  expect(settled).toEqual(['a']);
  expect(outbox.isSettled('a')).toBe(true);
  expect(outbox.isEmpty).toBe(true);
});

test('nothing comes after the end of a session', async () => {
  const { outbox, connect, names } = await setUp();
  connect();

  outbox.publish('a', ended);
  outbox.publish('a', item());
  outbox.acknowledge('a', 1);
  outbox.publish('a', item());

  expect(names()).toEqual(['a1']);
  expect(outbox.isSettled('a')).toBe(true);
});

test('at most 64 events are on their way, and acknowledgements let others follow', async () => {
  const { outbox, connect, sent } = await setUp();
  connect();

  for (let n = 0; n < 100; n++) outbox.publish('a', item());
  expect(sent).toHaveLength(64);
  outbox.acknowledge('a', 1);

  expect(sent.at(-1)?.sequence).toBe(65);
});

test('without an answer for 3 s everything unanswered goes again, in order', async () => {
  const { outbox, connect, names, clock } = await setUp();
  connect();
  for (let n = 0; n < 3; n++) outbox.publish('a', item());
  outbox.acknowledge('a', 1);

  await clock.advance(2_999);
  outbox.beat();
  expect(names()).toEqual(['a1', 'a2', 'a3']);
  await clock.advance(1);
  outbox.beat();
  outbox.beat();

  expect(names()).toEqual(['a1', 'a2', 'a3', 'a2', 'a3']);
});

test('an event that can not be encoded or is too large is dropped without a gap, and publishing never throws', async () => {
  const { outbox, connect, names } = await setUp();
  connect();

  outbox.publish('a', log(5 * 1024 * 1024));
  outbox.publish('a', { $case: 'turnMetrics', value: { turnId: -1.5, metricsJson: '' } });
  outbox.publish('a', item());

  expect(names()).toEqual(['a1']);
  expect(outbox.droppedCount).toBe(2);
});

test('while no control plane is linked events are on disk, and the next process sends them', async () => {
  const first = await setUp();
  first.outbox.publish('a', item('one'));
  first.connect();
  first.outbox.publish('a', item('two'));
  first.outbox.disconnect();
  first.outbox.publish('a', item('three'));
  await first.outbox.stop();

  const second = await setUp();
  second.connect();

  await expect.poll(second.names).toEqual(['a1', 'a2', 'a3']);
  expect(second.outbox.isEmpty).toBe(false);
  for (const sequence of [1, 2, 3]) second.outbox.acknowledge('a', sequence);
  expect(second.outbox.isEmpty).toBe(true);
  await expect.poll(() => readdir(dir)).toEqual([]);
});

test('a linked outbox that gets its answers never touches the disk', async () => {
  const { outbox, connect } = await setUp();
  connect();

  for (let n = 1; n <= 50; n++) {
    outbox.publish('a', item());
    outbox.acknowledge('a', n);
  }
  await outbox.stop();

  expect(await readdir(dir)).toEqual([]);
});

test('new events stay behind those of their session that are still on disk', async () => {
  const { outbox, connect, sent } = await setUp({ maxMemoryEvents: 20 });
  for (let n = 0; n < 100; n++) outbox.publish('a', item('i'.repeat(20_000)));
  connect();

  let acknowledged = 0;
  await expect
    .poll(
      () => {
        for (; acknowledged < sent.length; acknowledged++) {
          outbox.acknowledge('a', sent[acknowledged]?.sequence ?? 0);
          if (acknowledged < 60) outbox.publish('a', item('live'));
        }
        return outbox.isEmpty;
      },
      { interval: 1, timeout: 5_000 },
    )
    .toBe(true);

  expect(sent.map((event) => event.sequence)).toEqual(Array.from({ length: 160 }, (_, index) => index + 1));
});

test('a full disk queue drops diagnostics first, then items, and never the end', async () => {
  const { outbox, connect, sent } = await setUp({ maxSpoolBytes: 100_000, maxMemoryEvents: 2 });

  outbox.publish('a', joined);
  for (let n = 0; n < 80; n++) outbox.publish('a', log(1_000));
  const diagnostics = 80 - outbox.droppedCount;
  expect(diagnostics).toBeGreaterThan(65);
  expect(diagnostics).toBeLessThan(76);
  for (let n = 0; n < 30; n++) outbox.publish('a', item('i'.repeat(1_000)));
  const items = 110 - outbox.droppedCount - diagnostics;
  expect(items).toBeGreaterThan(15);
  expect(items).toBeLessThan(25);
  outbox.publish('a', ended);

  connect();
  let acknowledged = 0;
  await expect
    .poll(() => {
      for (; acknowledged < sent.length; acknowledged++)
        outbox.acknowledge('a', sent[acknowledged]?.sequence ?? 0);
      return outbox.isSettled('a');
    })
    .toBe(true);
  expect(sent.map((event) => event.sequence)).toEqual(sent.map((_, index) => index + 1));
  expect(sent.at(-1)?.event?.$case).toBe('ended');
});

test('a directory that can not be written costs nothing but the spooling', async () => {
  await writeFile(join(dir, 'file'), '');
  const { outbox, connect, names } = await setUp({ dir: join(dir, 'file', 'none'), maxMemoryEvents: 2 });

  for (let n = 0; n < 5; n++) outbox.publish('a', item());
  connect();
  await expect.poll(names).toEqual(['a1', 'a2']);
  outbox.acknowledge('a', 1);
  outbox.acknowledge('a', 2);

  await expect.poll(names).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
  await outbox.stop();
});
