import { expect, test } from 'vitest';
import { Ticker, type TickerTimers } from './ticker.ts';

/** Timers that fire when time is moved; `jump` is a main thread that was blocked. */
class FakeTimers implements TickerTimers {
  #nowMs = 0;
  #due: { atMs: number; callback: () => void } | null = null;

  nowMs(): number {
    return this.#nowMs;
  }

  after(ms: number, callback: () => void): () => void {
    const due = { atMs: this.#nowMs + ms, callback };
    this.#due = due;
    return () => {
      if (this.#due === due) this.#due = null;
    };
  }

  get isIdle(): boolean {
    return this.#due === null;
  }

  run(untilMs: number): void {
    while (this.#due && this.#due.atMs <= untilMs) {
      const { atMs, callback } = this.#due;
      this.#due = null;
      this.#nowMs = Math.max(this.#nowMs, atMs);
      callback();
    }
    this.#nowMs = untilMs;
  }

  jump(toMs: number): void {
    this.#nowMs = toMs;
  }
}

function counter(): { ticks: number; tick(): void } {
  return {
    ticks: 0,
    tick() {
      this.ticks++;
    },
  };
}

test('every session is asked every 20 ms, without drift', () => {
  const timers = new FakeTimers();
  const ticker = new Ticker(timers);
  const sessions = Array.from({ length: 9 }, counter);
  for (const session of sessions) ticker.add(session);

  timers.run(60_000);

  expect(sessions.map((s) => s.ticks)).toEqual(Array.from({ length: 9 }, () => 3_000));
  expect(ticker.lateness.quantileMs(0.99)).toBeLessThanOrEqual(0.5);
});

test('sessions are spread over four phases', () => {
  const timers = new FakeTimers();
  const ticker = new Ticker(timers);
  const atMs: number[] = [];
  for (let i = 0; i < 4; i++) ticker.add({ tick: () => atMs.push(timers.nowMs()) });

  timers.run(20);

  expect(atMs).toEqual([5, 10, 15, 20]);
});

test('a stall of up to 200 ms is caught up, and shows as lateness', () => {
  const timers = new FakeTimers();
  const ticker = new Ticker(timers);
  const session = counter();
  ticker.add(session);
  timers.run(1_000);

  timers.jump(1_150);
  timers.run(2_000);

  expect(session.ticks).toBe(100);
  expect(ticker.droppedMs).toBe(0);
  expect(ticker.lateness.quantileMs(0.999)).toBeGreaterThan(100);
});

test('of a longer stall the rest is dropped time', () => {
  const timers = new FakeTimers();
  const ticker = new Ticker(timers);
  const session = counter();
  ticker.add(session);
  timers.run(1_000);

  timers.jump(3_000);
  timers.run(4_000);

  expect(ticker.droppedMs).toBeGreaterThanOrEqual(1_780);
  expect(session.ticks).toBe((4_000 - ticker.droppedMs) / 20);
});

test('the clock rests while nobody needs it, and starts anew', () => {
  const timers = new FakeTimers();
  const ticker = new Ticker(timers);
  const session = counter();
  ticker.add(session);
  timers.run(100);
  ticker.remove(session);
  expect(timers.isIdle).toBe(true);

  timers.run(5_000);
  ticker.add(session);
  timers.run(5_100);

  expect(session.ticks).toBe(10);
});

test('a clock at rest is not late, however late it was for its last session', () => {
  const timers = new FakeTimers();
  const ticker = new Ticker(timers);
  const session = counter();
  ticker.add(session);
  timers.run(100);
  timers.jump(250);
  timers.run(300);
  expect(ticker.lateness.quantileMs(0.99)).toBeGreaterThan(100);

  ticker.remove(session);

  expect(ticker.lateness.quantileMs(0.99)).toBe(0);
});

test('a session that leaves in its own tick stops the clock', () => {
  const timers = new FakeTimers();
  const ticker = new Ticker(timers);
  const session = { tick: () => ticker.remove(session) };
  ticker.add(session);

  timers.run(100);

  expect(timers.isIdle).toBe(true);
});
