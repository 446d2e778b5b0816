import { expect, test } from 'vitest';
import { childTrace, formatTraceparent, parseTraceparent } from './trace-context.ts';

const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

test('a valid traceparent is continued: same trace, new span', () => {
  const child = childTrace(parseTraceparent(valid));

  expect(child.traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
  expect(child.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(child.spanId).not.toBe('00f067aa0ba902b7');
  expect(parseTraceparent(formatTraceparent(child))).toEqual(child);
});

test('without a parent a new trace starts', () => {
  const [first, second] = [childTrace(null), childTrace(null)];

  expect(first.traceId).not.toBe(second.traceId);
  expect(parseTraceparent(formatTraceparent(first))).toEqual(first);
});

test.each([
  ['missing', undefined],
  ['empty', ''],
  ['upper case', valid.toUpperCase()],
  ['an all-zero trace id', '00-00000000000000000000000000000000-00f067aa0ba902b7-01'],
  ['an all-zero span id', '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01'],
  ['version ff', `ff${valid.slice(2)}`],
  ['extra fields in version 00', `${valid}-extra`],
  ['too short', valid.slice(0, -1)],
])('%s is not a traceparent', (_name, header) => {
  expect(parseTraceparent(header)).toBeNull();
});

test('a later version may carry more fields', () => {
  expect(parseTraceparent(`cc${valid.slice(2)}-more`)?.traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
});

test('flags that version 00 does not define are sent as zero', () => {
  expect(childTrace(parseTraceparent(`${valid.slice(0, -2)}ff`)).flags).toBe('01');
});
