import { expect, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { createDrain } from './drain.ts';

function setUp() {
  const clock = new FakeClock();
  const admission = {
    occupied: 1,
    isDraining: false,
    startDraining() {
      this.isDraining = true;
    },
  };
  const outbox = { isEmpty: true };
  const { drain } = createDrain({ admission, outbox, longestSessionMs: 600_000, clock, log: silentLogger });
  let result: boolean | null = null;
  const start = () =>
    void drain().then((isDrained) => {
      result = isDrained;
    });
  return { clock, admission, outbox, drain, start, result: () => result };
}

test('draining refuses new sessions at once and waits for the last one and its record', async () => {
  const { clock, admission, outbox, start, result } = setUp();

  start();
  expect(admission.isDraining).toBe(true);
  await clock.advance(300_000);
  expect(result()).toBeNull();

  admission.occupied = 0;
  outbox.isEmpty = false;
  await clock.advance(10_000);
  expect(result()).toBeNull();

  outbox.isEmpty = true;
  await clock.advance(200);
  expect(result()).toBe(true);
});

test('draining gives up after the longest session and a grace for its record', async () => {
  const { clock, start, result } = setUp();

  start();
  await clock.advance(629_900);
  expect(result()).toBeNull();
  await clock.advance(200);

  expect(result()).toBe(false);
});

test('draining twice is draining once', () => {
  const { drain } = setUp();

  expect(drain()).toBe(drain());
});
