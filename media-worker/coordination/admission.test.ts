import { expect, test } from 'vitest';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { Admission, type AdmissionDeps } from './admission.ts';

function setUp(overrides: Partial<AdmissionDeps> = {}) {
  const clock = new FakeClock();
  const expired: string[] = [];
  const admission = new Admission({
    capacity: 2,
    clock,
    tickerLatenessP99Ms: () => 0,
    eventLoopDelayP99Ms: () => 0,
    onExpired: (sessionId) => expired.push(sessionId),
    ...overrides,
  });
  return { clock, admission, expired, inMs: (ms: number) => clock.nowMs() + ms };
}

test('the capacity is a hard cap over reserved and live sessions', () => {
  const { admission, inMs } = setUp();

  expect(admission.reserve('a', inMs(1_000))).toEqual({ accepted: true });
  expect(admission.join('a')).toBe(true);
  expect(admission.reserve('b', inMs(1_000))).toEqual({ accepted: true });
  expect(admission.reserve('c', inMs(1_000))).toEqual({ accepted: false, refusal: 'full' });
  expect(admission.occupied).toBe(2);

  expect(admission.release('a')).toBe(true);
  expect(admission.release('a')).toBe(false);
  expect(admission.reserve('c', inMs(1_000))).toEqual({ accepted: true });
});

test('a session that is held is refused as a duplicate', () => {
  const { admission, inMs } = setUp();
  admission.reserve('a', inMs(1_000));

  expect(admission.reserve('a', inMs(1_000))).toEqual({ accepted: false, refusal: 'duplicate' });
});

test('a reservation that nobody joins in time loses its slot; a joined one keeps it', async () => {
  const { admission, clock, expired, inMs } = setUp();
  admission.reserve('joined', inMs(1_000));
  admission.reserve('forgotten', inMs(1_000));

  await clock.advance(1_000);
  expect(admission.join('joined')).toBe(true);
  await clock.advance(1);

  expect(admission.join('forgotten')).toBe(false);
  expect(expired).toEqual(['forgotten']);
  expect(admission.sessionIds()).toEqual(['joined']);
  expect(admission.holds('forgotten')).toBe(false);
});

test.each([
  ['the ticker', { tickerLatenessP99Ms: () => 10.1 }],
  ['the event loop', { eventLoopDelayP99Ms: () => 31 }],
])('beside a call nothing new is taken while %s is late', (_what, late) => {
  const { admission, inMs } = setUp(late);
  admission.reserve('a', inMs(1_000));

  expect(admission.reserve('b', inMs(1_000))).toEqual({ accepted: false, refusal: 'full' });
});

test('a worker without calls takes one, however late it was', () => {
  const { admission, inMs } = setUp({ tickerLatenessP99Ms: () => 500, eventLoopDelayP99Ms: () => 500 });

  expect(admission.reserve('a', inMs(1_000))).toEqual({ accepted: true });
});

test('a ticker that is 10 ms late still takes sessions', () => {
  const { admission, inMs } = setUp({ tickerLatenessP99Ms: () => 10, eventLoopDelayP99Ms: () => 30 });
  admission.reserve('a', inMs(1_000));

  expect(admission.reserve('b', inMs(1_000))).toEqual({ accepted: true });
});

test('while draining nothing new is taken and what is held stays', () => {
  const { admission, inMs } = setUp();
  admission.reserve('a', inMs(1_000));

  admission.startDraining();

  expect(admission.reserve('b', inMs(1_000))).toEqual({ accepted: false, refusal: 'draining' });
  expect(admission.join('a')).toBe(true);
});
