import { expect, test } from 'vitest';
import { estimateWordTimes } from './estimate-word-times.ts';

test('every word has a time after the one before, and says that it is a guess', () => {
  const words = estimateWordTimes('Hello there, my   dear friend.', 'en', 1);

  expect(words.map((word) => word.text)).toEqual(['Hello', 'there,', 'my', 'dear', 'friend.']);
  for (const [i, word] of words.entries()) {
    expect(word.isEstimated).toBe(true);
    expect(word.endMs).toBeGreaterThan(word.startMs);
    expect(word.startMs).toBeGreaterThanOrEqual(words[i - 1]?.endMs ?? 0);
  }
});

test('ten plain words of English take between two and four seconds', () => {
  const words = estimateWordTimes('I can help you with your booking for next Tuesday', 'en', 1);

  expect(words.at(-1)?.endMs).toBeGreaterThan(2_000);
  expect(words.at(-1)?.endMs).toBeLessThan(4_000);
});

test('a comma makes a pause, a slower pace makes everything longer', () => {
  const [first, second] = estimateWordTimes('Yes, please', 'en', 1);
  const slow = estimateWordTimes('Yes, please', 'en', 2);

  expect((second?.startMs ?? 0) - (first?.endMs ?? 0)).toBeCloseTo(200);
  expect(slow[1]?.endMs).toBeCloseTo(2 * (second?.endMs ?? 0));
});

test('Chinese text has a syllable for each character', () => {
  expect(estimateWordTimes('你好你好', 'zh', 1)[0]?.endMs).toBeCloseTo((4 * 1_000) / 4.7);
});
