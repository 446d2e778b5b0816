import { expect, test } from 'vitest';
import { fliteText } from './flite-text.ts';

test('typographic signs and accents are put into ASCII, token by token', () => {
  const [piece] = fliteText('It’s “naïve” — Strauß & Søn');

  expect(piece?.tokens).toEqual(['It’s', '“naïve”', '—', 'Strauß', '&', 'Søn']);
  expect(piece?.spokenTokens).toEqual(["It's", '"naive"', ',', 'Strauss', '&', 'Son']);
});

test('a long sentence is cut at its commas, the first piece early', () => {
  const pieces = fliteText(
    'If you would like to visit us, we are open from nine to five on every weekday of the year, except when it snows, of course.',
  );

  expect(pieces.map((piece) => piece.tokens.join(' '))).toEqual([
    'If you would like to visit us,',
    'we are open from nine to five on every weekday of the year,',
    'except when it snows, of course.',
  ]);
});

test('a full stop within a sentence is no place to cut: it may be an abbreviation', () => {
  expect(fliteText('Yesterday evening I have met Mrs. Miller in town')).toHaveLength(1);
});

test('a short sentence is one piece', () => {
  expect(fliteText('Yes, of course.')).toHaveLength(1);
});
