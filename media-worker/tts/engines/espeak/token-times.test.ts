import { expect, test } from 'vitest';
import { tokenTimes } from './token-times.ts';

test('a token starts at the first moment that lies in it and ends where the next one starts', () => {
  const moments = [
    { position: 0, atMs: 0 },
    { position: 6, atMs: 300 },
    { position: 8, atMs: 350 },
  ];

  expect(tokenTimes('Guten Tag,', moments, 800)).toEqual([
    { text: 'Guten', startMs: 0, endMs: 300, isEstimated: false },
    { text: 'Tag,', startMs: 300, endMs: 800, isEstimated: false },
  ]);
});

test('a token without a moment shares the time by length and says that it is a guess', () => {
  const moments = [
    { position: 0, atMs: 0 },
    { position: 10, atMs: 900 },
  ];

  expect(tokenTimes('aaaa bbbb cc', moments, 1_000)).toEqual([
    { text: 'aaaa', startMs: 0, endMs: 450, isEstimated: false },
    { text: 'bbbb', startMs: 450, endMs: 900, isEstimated: true },
    { text: 'cc', startMs: 900, endMs: 1_000, isEstimated: false },
  ]);
});

test('times never go back', () => {
  const moments = [
    { position: 0, atMs: 500 },
    { position: 2, atMs: 100 },
  ];

  expect(tokenTimes('a b', moments, 600).map((word) => word.startMs)).toEqual([500, 500]);
});
