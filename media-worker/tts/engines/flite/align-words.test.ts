import { expect, test } from 'vitest';
import { alignWords } from './align-words.ts';

/** Phones of 100 ms each. */
function phones(names: string) {
  return names.split(' ').map((name, i) => ({ name, endMs: (i + 1) * 100 }));
}

function spans(tokens: string[], expected: string[], spoken: string) {
  return alignWords(
    tokens,
    expected.map((names) => names.split(' ').filter(Boolean)),
    phones(spoken),
  ).map(({ text, startMs, endMs }) => [text, startMs, endMs]);
}

test('each token has the time of its phones; pauses belong to none', () => {
  expect(spans(['go', 'home'], ['g ow', 'hh ow m'], 'pau g ow pau hh ow m pau')).toEqual([
    ['go', 100, 300],
    ['home', 400, 700],
  ]);
});

test('sounds that differ in a sentence do not move the border', () => {
  expect(spans(['the', 'apple'], ['dh ax', 'ae p ax l'], 'dh iy ae p el')).toEqual([
    ['the', 0, 200],
    ['apple', 200, 500],
  ]);
});

test('an abbreviation that is spoken in full has the time of all its sounds', () => {
  expect(spans(['Dr.', 'Ho'], ['d r ay v', 'hh ow'], 'd aa k t er hh ow')).toEqual([
    ['Dr.', 0, 500],
    ['Ho', 500, 700],
  ]);
});

test('a silent token lies between its neighbours', () => {
  expect(spans(['go', '—', 'on'], ['g ow', '', 'aa n'], 'g ow pau aa n')).toEqual([
    ['go', 0, 200],
    ['—', 200, 200],
    ['on', 300, 500],
  ]);
});
