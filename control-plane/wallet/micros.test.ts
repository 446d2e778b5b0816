import { expect, test } from 'vitest';
import { formatMicros, parseMicros } from './micros.ts';

test.each([
  [0, '0.00'],
  [100_000_000, '100.00'],
  [99_940_000, '99.94'],
  [99_999_500, '99.9995'],
  [1, '0.000001'],
  [10, '0.00001'],
  [-1_000, '-0.001'],
  [-12_500_000, '-12.50'],
])('%d micros are written %s and read back', (micros, text) => {
  expect(formatMicros(micros)).toBe(text);
  expect(parseMicros(text)).toBe(micros);
});

test.each(['', '1,5', '1e3', '.5', '5.', '1.0000001', '--1', 'NaN', ' 1'])('%j is no amount', (text) => {
  expect(parseMicros(text)).toBeNull();
});

test('a whole number is an amount; minus nothing is nothing', () => {
  expect(parseMicros('25')).toBe(25_000_000);
  expect(Object.is(parseMicros('-0'), 0)).toBe(true);
});
