import { expect, test } from 'vitest';
import { SpeechSplitter, type SpeechSplitterOptions } from './speech-splitter.ts';

function split(texts: readonly string[], options: Partial<SpeechSplitterOptions> = {}): string[] {
  const splitter = new SpeechSplitter({
    chunkCharacters: 300,
    minChunkCharacters: 0,
    startsWithClause: false,
    ...options,
  });
  return [...texts.flatMap((text) => splitter.push(text)), ...splitter.flush()].map(
    ({ speaker, text }) => `${speaker}: ${text}`,
  );
}

test('sentences are pieces, however the text comes', () => {
  const text = 'Hello there. How are you? Dr. Smith is in!';

  expect(split([text])).toEqual(['0: Hello there.', '0: How are you?', '0: Dr. Smith is in!']);
  expect(split([...text])).toEqual(split([text]));
});

test('short sentences are put together, but the first one is spoken at once', () => {
  const pieces = split(['Yes. No. Yes. This one is long enough to be spoken alone, surely. No.'], {
    minChunkCharacters: 20,
  });

  expect(pieces).toEqual([
    '0: Yes.',
    '0: No. Yes. This one is long enough to be spoken alone, surely.',
    '0: No.',
  ]);
});

test('no piece is longer than a chunk, and no word is lost', () => {
  const text = `${'word, '.repeat(40)}${'другое '.repeat(60)}${'很'.repeat(250)}`;

  const pieces = split([text], { chunkCharacters: 100 });

  expect(pieces.every((piece) => piece.length <= 103)).toBe(true);
  expect(
    pieces
      .map((piece) => piece.slice(3))
      .join('')
      .replaceAll(' ', ''),
  ).toBe(text.replaceAll(' ', ''));
});

test('a speaker tag ends a piece and is never spoken, wherever it is torn apart', () => {
  const text = '<|speaker:0|>Good morning<|speaker:1|>Hi. What is up?<|speaker:0|>Not much';
  const expected = ['0: Good morning', '1: Hi.', '1: What is up?', '0: Not much'];

  expect(split([text])).toEqual(expected);
  expect(split([...text])).toEqual(expected);
});

test('what only looks like the beginning of a tag is text', () => {
  expect(split(['I <3 you <', '| and more.'])).toEqual(['0: I <3 you <| and more.']);
});

test('signs without a sound make no piece', () => {
  expect(split(['... 😀 — !!! \n\n'])).toEqual([]);
});

test('the first clause is enough where latency counts, and again after a flush', () => {
  const splitter = new SpeechSplitter({
    chunkCharacters: 300,
    minChunkCharacters: 0,
    startsWithClause: true,
  });

  expect(splitter.push('Well then my friend, we could').map((p) => p.text)).toEqual(['Well then my friend,']);
  expect(splitter.push(' go there now, but').map((p) => p.text)).toEqual([]);
  splitter.flush();
  expect(splitter.push('And another clause, too').map((p) => p.text)).toEqual(['And another clause,']);
});
