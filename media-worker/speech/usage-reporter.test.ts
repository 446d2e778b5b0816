import { expect, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { type SpeechUsage, UsageReporter } from './usage-reporter.ts';

const USAGE = { workspaceId: 'ws1', kind: 'tts', model: 's1', quantity: 5 } as const;

function setUp() {
  const clock = new FakeClock();
  const reports: (readonly SpeechUsage[])[] = [];
  const control = { isDown: false };
  const reporter = new UsageReporter({
    report: async (usage) => {
      reports.push(usage);
      if (control.isDown) throw new Error('no control plane');
    },
    clock,
    log: silentLogger,
  });
  return { clock, reports, control, reporter };
}

test('usage is gathered for a moment and reported once', async () => {
  const { clock, reports, reporter } = setUp();

  reporter.add(USAGE);
  reporter.add({ ...USAGE, quantity: 7 });
  await clock.advance(10_000);

  expect(reports.map((report) => report.map((usage) => usage.quantity))).toEqual([[5, 7]]);
  expect(reporter.waitingCount).toBe(0);
});

test('what is not settled is reported again, under the same ids', async () => {
  const { clock, reports, control, reporter } = setUp();
  control.isDown = true;
  reporter.add(USAGE);
  await clock.advance(3_000);
  expect(reporter.waitingCount).toBe(1);

  control.isDown = false;
  await clock.advance(3_000);

  expect(reporter.waitingCount).toBe(0);
  expect(new Set(reports.flat().map((usage) => usage.usageId)).size).toBe(1);
});

test('nothing used is nothing to report', async () => {
  const { clock, reports, reporter } = setUp();

  reporter.add({ ...USAGE, quantity: 0 });
  await clock.advance(10_000);

  expect(reports).toEqual([]);
});

test('a worker that stops reports at once, and does not wait for a control plane that is gone', async () => {
  const { clock, reports, reporter } = setUp();
  reporter.add(USAGE);

  const stopped = reporter.stop(2_000);
  await clock.advance(0);
  await stopped;

  expect(reports).toHaveLength(1);
  const gone = setUp();
  gone.control.isDown = true;
  gone.reporter.add(USAGE);
  const gaveUp = gone.reporter.stop(2_000);
  await gone.clock.advance(2_000);
  await gaveUp;
});
