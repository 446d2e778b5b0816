import { expect, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { sessionSpec } from '../../test/fakes/fake-worker-session.ts';
import { CoordinationUnavailable, type WorkerStatus } from '../coordination/coordination.ts';
import { MemoryCoordination } from '../coordination/memory-coordination.ts';
import type { ReserveOutcome } from './linked-worker.ts';
import { createPlacement, type PlacementDeps } from './placement.ts';

function worker(workerId: string, overrides: Partial<WorkerStatus> = {}): WorkerStatus {
  return {
    workerId,
    publicUrl: `http://${workerId}.test`,
    capacity: 10,
    occupied: 0,
    isDraining: false,
    eventLoopDelayP99Ms: 0,
    tickerLatenessP99Ms: 0,
    sessionIds: [],
    ...overrides,
  };
}

const accepted: ReserveOutcome = { isAccepted: true };
const full: ReserveOutcome = { isAccepted: false, refusal: 'full' };

async function setUp(
  workers: readonly WorkerStatus[],
  options: {
    answer?: (workerId: string) => ReserveOutcome;
    random?: () => number;
    coordination?: PlacementDeps['coordination'];
    shared?: readonly WorkerStatus[];
  } = {},
) {
  const memory = new MemoryCoordination(new FakeClock());
  for (const status of options.shared ?? workers) await memory.heartbeat(status, 'control-plane-1', 60_000);
  const asked: string[] = [];
  const released: string[] = [];
  const placement = createPlacement({
    link: {
      linkedWorkers: () => [...workers],
      reserve: async (workerId) => {
        asked.push(workerId);
        return options.answer?.(workerId) ?? accepted;
      },
      release: (workerId, sessionId) => released.push(`${workerId} ${sessionId}`),
    },
    coordination: options.coordination ?? memory,
    random: options.random ?? (() => 0),
    log: silentLogger,
  });
  return { placement, asked, released, memory };
}

const unreachable = { kind: 'upstream_failed', message: 'Agent gateway is unreachable' };

test('a worker is chosen with the weight of its free slots', async () => {
  const draws = Array.from({ length: 100 }, (_, index) => index / 100);
  const workers = [worker('busy', { occupied: 9 }), worker('free', { occupied: 1 })];
  const { placement, asked } = await setUp(workers, {
    random: () => draws.shift() ?? 0,
    coordination: {
      liveWorkers: async () => workers.map((status) => ({ ...status, controlPlaneId: 'control-plane-1' })),
      reserveSlot: async () => true,
      releaseSlot: async () => {},
    },
  });

  for (let n = 0; n < 100; n++) await placement.place(sessionSpec(`s${n}`));

  expect(asked.filter((workerId) => workerId === 'busy')).toHaveLength(10);
  expect(asked.filter((workerId) => workerId === 'free')).toHaveLength(90);
});

test('at most three workers are asked, each once', async () => {
  const { placement, asked } = await setUp(
    ['a', 'b', 'c', 'd'].map((id) => worker(id)),
    { answer: () => full },
  );

  await expect(placement.place(sessionSpec('s'))).rejects.toMatchObject(unreachable);
  expect(asked).toEqual(['a', 'b', 'c']);
});

test('the next worker is asked when one refuses or does not answer, and gets its address into the reply', async () => {
  const { placement, memory } = await setUp(
    ['a', 'b', 'c'].map((id) => worker(id)),
    {
      answer: (workerId) => (workerId === 'c' ? accepted : { isAccepted: false, refusal: 'unreachable' }),
    },
  );

  expect(await placement.place(sessionSpec('s'))).toEqual({ workerId: 'c', publicUrl: 'http://c.test' });
  expect((await memory.liveWorkers()).map((w) => w.occupied)).toEqual([0, 0, 1]);
});

test('without a worker that has room, is on time and does not drain nobody is asked', async () => {
  const { placement, asked } = await setUp([
    worker('full', { occupied: 10 }),
    worker('draining', { isDraining: true }),
    worker('late', { tickerLatenessP99Ms: 11 }),
  ]);

  await expect(placement.place(sessionSpec('s'))).rejects.toMatchObject(unreachable);
  expect(asked).toEqual([]);
});

test('a worker that is linked to other replicas alone is not asked', async () => {
  const { placement } = await setUp([], { shared: [worker('elsewhere')] });

  await expect(placement.place(sessionSpec('s'))).rejects.toMatchObject(unreachable);
});

test('slots that other replicas have taken count before the worker tells of them', async () => {
  const { placement, asked, memory } = await setUp([
    worker('a', { capacity: 2 }),
    worker('b', { capacity: 1 }),
  ]);
  for (const sessionId of ['x', 'y']) await memory.reserveSlot('a', sessionId, 10_000);

  await placement.place(sessionSpec('s'));

  expect(asked).toEqual(['b']);
});

test('placement goes on without coordination, and when it has just forgotten the workers', async () => {
  const fail = async () => {
    throw new CoordinationUnavailable();
  };
  const down = await setUp([worker('a')], {
    coordination: { liveWorkers: fail, reserveSlot: fail, releaseSlot: fail },
  });
  const empty = await setUp([worker('a')], { shared: [] });

  expect((await down.placement.place(sessionSpec('s'))).workerId).toBe('a');
  expect((await empty.placement.place(sessionSpec('s'))).workerId).toBe('a');
});

test('a placed session can be given back', async () => {
  const { placement, released, memory } = await setUp([worker('a')]);
  await placement.place(sessionSpec('s'));

  await placement.release('a', 's');

  expect(released).toEqual(['a s']);
  expect((await memory.liveWorkers())[0]?.occupied).toBe(0);
});
