import { expect, test } from 'vitest';
import { wordErrors } from '../support/word-errors.ts';

test.each([
  ['the same text', 'a b c', 'a b c', 0],
  ['a word that is another', 'a b c', 'a x c', 1],
  ['a word that is missing', 'a b c', 'a c', 1],
  ['a word too many', 'a b c', 'a b x c', 1],
  ['nothing understood', 'a b c', '', 3],
  ['case and punctuation', "Yes, that's fine!", 'yes thats fine', 0],
  ['digits', 'Room 12 costs $80.', 'room twelve costs eighty', 0],
  [
    'larger numbers',
    '1,250 people in 307',
    'one thousand two hundred fifty people in three hundred seven',
    0,
  ],
  ['hyphens', 'twenty-one', '21', 0],
])('word errors: %s', (_case, reference, hypothesis, errors) => {
  expect(wordErrors(reference, hypothesis).errors).toBe(errors);
});

test('the share of errors is of the words that were said', () => {
  expect(wordErrors('I paid 80 dollars', 'I paid')).toEqual({ errors: 2, words: 4 });
});
