import { expect, test } from 'vitest';
import { isTimeZone, localDate } from './time-zone.ts';

test.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+1'])('%s is a zone', (name) => {
  expect(isTimeZone(name)).toBe(true);
});

test.each(['', 'Mars/Base', '+01:00', '-0500', 'Europe/Berlin ', '../etc/passwd'])(
  '%j is no zone',
  (name) => {
    expect(isTimeZone(name)).toBe(false);
  },
);

test('the day is the one of the zone', () => {
  const newYearUtcMs = Date.UTC(2026, 0, 1, 0, 30);
  expect(localDate(newYearUtcMs, 'UTC')).toBe('2026-01-01');
  expect(localDate(newYearUtcMs, 'America/New_York')).toBe('2025-12-31');
});
