import { type Clock, systemClock } from '../../shared/time.ts';

/** A clock that runs `speed` times as fast as the real one, for waits of many seconds on real sockets. */
export function createFastClock(speed: number): Clock {
  const startMs = systemClock.nowMs();
  const startedMs = systemClock.monotonicMs();
  const elapsedMs = () => (systemClock.monotonicMs() - startedMs) * speed;
  return {
    nowMs: () => Math.round(startMs + elapsedMs()),
    monotonicMs: elapsedMs,
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  };
}
