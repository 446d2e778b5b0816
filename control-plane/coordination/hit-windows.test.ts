import { expect, test } from 'vitest';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { HitWindows } from './hit-windows.ts';

const MINUTE_MS = 60_000;

test('windows start at multiples of their length, not at the first hit', async () => {
  const clock = new FakeClock(10 * MINUTE_MS + 59_000);
  const windows = new HitWindows(clock);

  const before = [windows.count('k', MINUTE_MS), windows.count('k', MINUTE_MS)];
  await clock.advance(1_000);

  expect([...before, windows.count('k', MINUTE_MS)]).toEqual([1, 2, 1]);
});

test('windows that are over are forgotten, however many keys there were', async () => {
  const clock = new FakeClock(0);
  const windows = new HitWindows(clock);

  for (let minute = 0; minute < 20; minute++) {
    for (let i = 0; i < 1_000; i++) windows.count(`ip:${minute}.${i}`, MINUTE_MS);
    await clock.advance(MINUTE_MS);
  }

  expect(windows.size).toBeLessThanOrEqual(3_000);
});
