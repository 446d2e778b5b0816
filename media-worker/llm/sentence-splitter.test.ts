import { expect, test } from 'vitest';
import { SentenceSplitter } from './sentence-splitter.ts';
import { spokenText } from './spoken-text.ts';

/** Pieces of `text` when it comes `size` characters at a time. */
function split(text: string, size = 3): string[] {
  const splitter = new SentenceSplitter();
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(...splitter.push(text.slice(at, at + size)));
  return [...pieces, ...splitter.flush()];
}

test('a sentence is given as soon as it is known to have ended', () => {
  const splitter = new SentenceSplitter();

  expect(splitter.push('Hello there.')).toEqual([]);
  expect(splitter.push(' How')).toEqual(['Hello there.']);
  expect(splitter.push(' are you?')).toEqual([]);
  expect(splitter.flush()).toEqual(['How are you?']);
});

test('only the first sentence of a reply is given by its first clause', () => {
  expect(split('We are open on weekdays, from nine to five. On Saturday, we close at noon.')).toEqual([
    'We are open on weekdays,',
    'from nine to five.',
    'On Saturday, we close at noon.',
  ]);
});

test('a clause of a few letters is not worth a break', () => {
  expect(split('Yes, we are open.')).toEqual(['Yes, we are open.']);
});

test.each([
  ['Dr. Smith and Mrs. Jones are in.', 1],
  ['It opens at 9 a.m. on Monday.', 1],
  ['It opens at 9 a.m. The door is open.', 2],
  ['That is 3.5 miles or $4.20 a ride.', 1],
  ['See www.example.com/a.b?c=1 or mail a.b@example.com now.', 1],
  ['My name is J. R. Smith.', 1],
  ['Use e.g. a pen.', 1],
  ['1. Call us. 2. Wait.', 2],
  ['Well... maybe. "Really?" he said. (Yes.) Fine!', 4],
  ['Version 2.0 is out! Is it good?! Yes.', 3],
])('%s has the right number of sentences', (text, count) => {
  for (const size of [1, 4, 1000]) expect(split(text, size)).toHaveLength(count);
});

test('Chinese and Japanese sentences end without a space', () => {
  expect(split('你好。今天天气很好！我们去公园吧？')).toEqual(['你好。', '今天天气很好！', '我们去公园吧？']);
  expect(split('はい、もちろんです。「いいえ。」と言いました。', 1)).toHaveLength(3);
});

test('a line break ends a piece, and list signs are not spoken', () => {
  expect(split('You need:\n- **Flour**\n- Eggs\n\nThat is all')).toEqual([
    'You need:',
    'Flour',
    'Eggs',
    'That is all',
  ]);
});

test('no piece is longer than 300 characters or empty', () => {
  const endless = 'word '.repeat(400);
  const unbroken = '漢'.repeat(1000);
  for (const text of [endless, unbroken, `${'clause of it, '.repeat(60)}end.`, '… — ! \n 🎉 . ']) {
    for (const piece of split(text, 7)) {
      expect(piece.length).toBeLessThanOrEqual(300);
      expect(piece).not.toBe('');
    }
  }
});

test('a sentence that does not end is given out before it is 600 characters long', () => {
  const splitter = new SentenceSplitter();

  expect(splitter.push('and so on '.repeat(60)).join(' ').length).toBeGreaterThan(300);
});

test('nothing is lost: the pieces joined by spaces are the spoken text of the whole', () => {
  const text =
    'Hi! I am *Ava*, at No. 5 Main St. near the U.S. embassy: it costs $4.20, i.e. not much. ' +
    `Is that ok? ${'A very long sentence without any end goes on and on '.repeat(12)}. Bye…`;
  for (const size of [1, 2, 5, 40, 5000])
    expect(split(text, size).join(' ').replace(/ \./g, '.')).toBe(spokenText(text).replace(/ \./g, '.'));
});
