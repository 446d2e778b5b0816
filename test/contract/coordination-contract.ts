import { afterEach, describe, expect, test } from 'vitest';
import {
  type Coordination,
  CoordinationUnavailable,
  type WorkerStatus,
} from '../../control-plane/coordination/coordination.ts';

/** A coordination that nobody else uses, and a way to let its time pass. */
interface Opened {
  readonly coordination: Coordination;
  passMs(ms: number): Promise<void>;
}

/** Long enough for what is asked meanwhile, short enough to wait for on a real server. */
const TTL_MS = 400;
const LONG_MS = 60_000;

/** Every promise of the coordination port, as tests. The same for each implementation. */
export function coordinationContract(open: () => Promise<Opened>): void {
  const opened: Coordination[] = [];
  const setUp: SetUp = async () => {
    const answer = await open();
    opened.push(answer.coordination);
    return answer;
  };
  afterEach(async () => {
    for (const coordination of opened.splice(0)) await coordination.close();
  });

  describe('workers', () => workerTests(setUp));
  describe('slots', () => slotTests(setUp));
  describe('sessions', () => sessionTests(setUp));
  describe('hits', () => hitTests(setUp));

  test('it answers a ping, and throws CoordinationUnavailable when closed', async () => {
    const { coordination } = await setUp();
    await expect(coordination.ping()).resolves.toBeUndefined();

    await coordination.close();

    await expect(coordination.ping()).rejects.toThrow(CoordinationUnavailable);
    await expect(coordination.hit('k', 1, LONG_MS)).rejects.toThrow(CoordinationUnavailable);
    await expect(coordination.liveWorkers()).rejects.toThrow(CoordinationUnavailable);
    await expect(coordination.reserveSlot('w', 's', LONG_MS)).rejects.toThrow(CoordinationUnavailable);
    await expect(coordination.close()).resolves.toBeUndefined();
  });
}

type SetUp = () => Promise<Opened>;

export function worker(overrides: Partial<WorkerStatus> = {}): WorkerStatus {
  return {
    workerId: 'w1',
    publicUrl: 'wss://media.example/w1',
    capacity: 3,
    occupied: 0,
    isDraining: false,
    eventLoopDelayP99Ms: 1.25,
    tickerLatenessP99Ms: 0.5,
    sessionIds: [],
    ...overrides,
  };
}

function workerTests(setUp: SetUp): void {
  test('a worker is listed with all it said of itself and the replica that holds its link', async () => {
    const { coordination } = await setUp();
    const status = worker({ occupied: 2, sessionIds: ['s1', 's2'] });

    await coordination.heartbeat(status, 'cp1', LONG_MS);
    const [listed] = await coordination.liveWorkers();

    expect({ ...listed, sessionIds: [...(listed?.sessionIds ?? [])].sort() }).toEqual({
      ...status,
      controlPlaneId: 'cp1',
    });
  });

  test('a later heartbeat replaces the earlier one', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker({ occupied: 1, sessionIds: ['s1'] }), 'cp1', LONG_MS);

    await coordination.heartbeat(worker({ isDraining: true, capacity: 9 }), 'cp2', LONG_MS);

    expect(await coordination.liveWorkers()).toEqual([
      { ...worker({ isDraining: true, capacity: 9 }), controlPlaneId: 'cp2' },
    ]);
  });

  test('all live workers are listed', async () => {
    const { coordination } = await setUp();
    for (const workerId of ['w1', 'w2', 'w3'])
      await coordination.heartbeat(worker({ workerId }), 'cp1', LONG_MS);

    const listed = await coordination.liveWorkers();

    expect(listed.map(({ workerId }) => workerId).sort()).toEqual(['w1', 'w2', 'w3']);
  });

  test('a worker whose heartbeat ran out is gone, with its sessions, until it beats again', async () => {
    const { coordination, passMs } = await setUp();
    const status = worker({ occupied: 1, sessionIds: ['s1'] });
    await coordination.heartbeat(status, 'cp1', TTL_MS);
    expect(await coordination.liveWorkers()).toHaveLength(1);

    await passMs(TTL_MS + 50);

    expect(await coordination.liveWorkers()).toEqual([]);
    expect(await coordination.locate('s1')).toBeNull();
    expect(await coordination.reserveSlot('w1', 's2', LONG_MS)).toBe(false);

    await coordination.heartbeat(status, 'cp1', TTL_MS);

    expect(await coordination.locate('s1')).toEqual({ workerId: 'w1', controlPlaneId: 'cp1' });
  });

  test('a heartbeat in time keeps the worker alive', async () => {
    const { coordination, passMs } = await setUp();
    await coordination.heartbeat(worker(), 'cp1', TTL_MS);
    await passMs(TTL_MS / 2);
    await coordination.heartbeat(worker(), 'cp1', 2 * TTL_MS);

    await passMs(TTL_MS);

    expect(await coordination.liveWorkers()).toHaveLength(1);
  });

  test('a removed worker is gone with its sessions and slots', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker({ occupied: 1, sessionIds: ['s1'] }), 'cp1', LONG_MS);
    await coordination.reserveSlot('w1', 's2', LONG_MS);

    await coordination.removeWorker('w1');

    expect(await coordination.liveWorkers()).toEqual([]);
    expect([await coordination.locate('s1'), await coordination.locate('s2')]).toEqual([null, null]);
    await coordination.heartbeat(worker(), 'cp1', LONG_MS);
    expect((await coordination.liveWorkers())[0]?.occupied).toBe(0);
  });

  test('removing a worker nobody knows does nothing', async () => {
    const { coordination } = await setUp();
    await expect(coordination.removeWorker('nobody')).resolves.toBeUndefined();
  });
}

function slotTests(setUp: SetUp): void {
  const reserve = (coordination: Coordination, ...sessionIds: string[]) =>
    Promise.all(sessionIds.map((id) => coordination.reserveSlot('w1', id, LONG_MS)));
  const occupied = async (coordination: Coordination) => (await coordination.liveWorkers())[0]?.occupied;

  test('slots are given up to the capacity, and counted as occupied', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker({ occupied: 1, sessionIds: ['s0'] }), 'cp1', LONG_MS);

    expect(await reserve(coordination, 's1', 's2', 's3')).toEqual([true, true, false]);
    expect(await occupied(coordination)).toBe(3);
  });

  test('of 400 that reserve at once, no worker gets more than its capacity and no slot stays free', async () => {
    const { coordination } = await setUp();
    const workerIds = Array.from({ length: 8 }, (_, i) => `w${i}`);
    for (const workerId of workerIds)
      await coordination.heartbeat(worker({ workerId, capacity: 37 }), 'cp1', LONG_MS);

    const answers = await Promise.all(
      Array.from({ length: 400 }, async (_, i) => {
        const workerId = `w${i % 8}`;
        return (await coordination.reserveSlot(workerId, `s${i}`, LONG_MS)) ? [workerId] : [];
      }),
    );

    const placed = answers.flat();
    for (const workerId of workerIds) expect(placed.filter((id) => id === workerId)).toHaveLength(37);
    expect((await coordination.liveWorkers()).map((w) => w.occupied)).toEqual(Array(8).fill(37));
  });

  test('a draining worker and an unknown one give no slot', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker({ isDraining: true }), 'cp1', LONG_MS);

    expect(await coordination.reserveSlot('w1', 's1', LONG_MS)).toBe(false);
    expect(await coordination.reserveSlot('nobody', 's1', LONG_MS)).toBe(false);
    expect(await coordination.locate('s1')).toBeNull();
  });

  test('a session that has a slot keeps it when it asks again', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker({ capacity: 1 }), 'cp1', LONG_MS);

    expect(await reserve(coordination, 's1', 's1', 's2')).toEqual([true, true, false]);
    await coordination.heartbeat(worker({ capacity: 1, occupied: 1, sessionIds: ['s1'] }), 'cp1', LONG_MS);
    expect(await reserve(coordination, 's1', 's2')).toEqual([true, false]);
    expect(await occupied(coordination)).toBe(1);
  });

  test('a heartbeat that names the session counts its slot once, one that does not leaves it taken', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker({ capacity: 2 }), 'cp1', LONG_MS);
    await reserve(coordination, 's1', 's2');

    await coordination.heartbeat(worker({ capacity: 2, occupied: 1, sessionIds: ['s1'] }), 'cp1', LONG_MS);

    expect(await occupied(coordination)).toBe(2);
    expect(await reserve(coordination, 's3')).toEqual([false]);

    await coordination.heartbeat(worker({ capacity: 2, occupied: 1, sessionIds: ['s2'] }), 'cp1', LONG_MS);

    expect(await occupied(coordination)).toBe(1);
  });

  test('a slot that no heartbeat counted is free again after its time', async () => {
    const { coordination, passMs } = await setUp();
    await coordination.heartbeat(worker({ capacity: 1 }), 'cp1', LONG_MS);
    await coordination.reserveSlot('w1', 's1', TTL_MS);
    expect(await coordination.reserveSlot('w1', 's2', TTL_MS)).toBe(false);

    await passMs(TTL_MS + 50);

    expect(await occupied(coordination)).toBe(0);
    expect(await coordination.locate('s1')).toBeNull();
    expect(await coordination.reserveSlot('w1', 's2', TTL_MS)).toBe(true);
  });

  test('a slot outlives a worker that misses its heartbeat and comes back', async () => {
    const { coordination, passMs } = await setUp();
    await coordination.heartbeat(worker({ capacity: 1 }), 'cp1', TTL_MS);
    await coordination.reserveSlot('w1', 's1', LONG_MS);

    await passMs(TTL_MS + 50);
    await coordination.heartbeat(worker({ capacity: 1 }), 'cp1', LONG_MS);

    expect(await reserve(coordination, 's2')).toEqual([false]);
    expect(await coordination.locate('s1')).toEqual({ workerId: 'w1', controlPlaneId: 'cp1' });
  });

  test('a released slot is free at once, counted by a heartbeat or not', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker({ capacity: 2, occupied: 1, sessionIds: ['s1'] }), 'cp1', LONG_MS);
    await reserve(coordination, 's2');

    await coordination.releaseSlot('w1', 's1');
    await coordination.releaseSlot('w1', 's2');

    expect(await occupied(coordination)).toBe(0);
    expect([await coordination.locate('s1'), await coordination.locate('s2')]).toEqual([null, null]);
    expect(await reserve(coordination, 's3', 's4', 's5')).toEqual([true, true, false]);
  });

  test('releasing twice, or what was never taken, frees nothing', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker({ capacity: 2, occupied: 1, sessionIds: ['s1'] }), 'cp1', LONG_MS);
    await reserve(coordination, 's2');

    for (const sessionId of ['s2', 's2', 'never']) await coordination.releaseSlot('w1', sessionId);
    await coordination.releaseSlot('nobody', 's1');

    expect(await occupied(coordination)).toBe(1);
    expect(await coordination.locate('s1')).toEqual({ workerId: 'w1', controlPlaneId: 'cp1' });
  });
}

function sessionTests(setUp: SetUp): void {
  test('a session is found where it is reserved, then where a heartbeat names it', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker(), 'cp1', LONG_MS);

    await coordination.reserveSlot('w1', 's1', LONG_MS);
    expect(await coordination.locate('s1')).toEqual({ workerId: 'w1', controlPlaneId: 'cp1' });

    await coordination.heartbeat(worker({ occupied: 1, sessionIds: ['s1'] }), 'cp2', LONG_MS);
    expect(await coordination.locate('s1')).toEqual({ workerId: 'w1', controlPlaneId: 'cp2' });
  });

  test('a session that the heartbeat names no more is gone', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker({ occupied: 2, sessionIds: ['s1', 's2'] }), 'cp1', LONG_MS);

    await coordination.heartbeat(worker({ occupied: 1, sessionIds: ['s2'] }), 'cp1', LONG_MS);

    expect(await coordination.locate('s1')).toBeNull();
    expect(await coordination.locate('s2')).not.toBeNull();
  });

  test('a session that moved is found at its new worker, whatever happens to the old one', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker({ occupied: 1, sessionIds: ['s1'] }), 'cp1', LONG_MS);
    await coordination.heartbeat(worker({ workerId: 'w2' }), 'cp2', LONG_MS);
    await coordination.releaseSlot('w1', 's1');
    await coordination.reserveSlot('w2', 's1', LONG_MS);

    await coordination.heartbeat(worker(), 'cp1', LONG_MS);
    await coordination.releaseSlot('w1', 's1');
    await coordination.removeWorker('w1');

    expect(await coordination.locate('s1')).toEqual({ workerId: 'w2', controlPlaneId: 'cp2' });
  });

  test('a session nobody holds is null', async () => {
    const { coordination } = await setUp();
    await coordination.heartbeat(worker(), 'cp1', LONG_MS);
    expect(await coordination.locate('s1')).toBeNull();
  });
}

function hitTests(setUp: SetUp): void {
  const WINDOW_MS = 3_600_000;

  test('hits are true up to the limit, then false', async () => {
    const { coordination } = await setUp();

    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await coordination.hit('k', 3, WINDOW_MS));

    expect(answers).toEqual([true, true, true, false, false]);
  });

  test('of 100 hits at once just as many are true as the limit says', async () => {
    const { coordination } = await setUp();

    const answers = await Promise.all(
      Array.from({ length: 100 }, () => coordination.hit('k', 40, WINDOW_MS)),
    );

    expect(answers.filter(Boolean)).toHaveLength(40);
  });

  test('each key has a count of its own', async () => {
    const { coordination } = await setUp();
    await coordination.hit('ip:a', 1, WINDOW_MS);

    expect(await coordination.hit('ip:b', 1, WINDOW_MS)).toBe(true);
    expect(await coordination.hit('ip:a', 1, WINDOW_MS)).toBe(false);
  });

  test('a limit of 0 refuses everything', async () => {
    const { coordination } = await setUp();
    expect(await coordination.hit('k', 0, WINDOW_MS)).toBe(false);
  });

  test('the next window counts from the start', async () => {
    const { coordination, passMs } = await setUp();
    let hits = 0;
    // A window may end in between; two in a row can't, within 100 hits.
    while (await coordination.hit('k', 5, TTL_MS)) expect(hits++).toBeLessThan(100);

    await passMs(TTL_MS + 10);

    expect(await coordination.hit('k', 5, TTL_MS)).toBe(true);
  });
}
