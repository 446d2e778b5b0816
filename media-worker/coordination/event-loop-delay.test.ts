import { expect, test } from 'vitest';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { EventLoopDelay } from './event-loop-delay.ts';

/** Timers fire `latenessMs` after they should. */
class LateClock extends FakeClock {
  latenessMs = 0;

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return super.sleep(ms + this.latenessMs, signal);
  }
}

test('the delay is what timers are late by, and is forgotten after 10 s', async () => {
  const clock = new LateClock();
  const delay = new EventLoopDelay(clock);
  expect(delay.p99Ms()).toBe(0);
  delay.start();

  await clock.advance(1_000);
  expect(delay.p99Ms()).toBeLessThan(0.1);

  clock.latenessMs = 40;
  await clock.advance(1_000);
  expect(delay.p99Ms()).toBeCloseTo(40, 0);

  clock.latenessMs = 0;
  await clock.advance(10_500);
  expect(delay.p99Ms()).toBeLessThan(0.1);
  delay.stop();
});
