import { expect, test } from 'vitest';
import { chunkText } from './chunk-text.ts';

const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i}`).join(' ');

test('a short text is one chunk', () => {
  expect(chunkText('  We open at 9.\n')).toEqual(['We open at 9.']);
});

test('each section is a chunk of its own, under all its headings', () => {
  const text = '# Shop\n\n## Hours\n\nNine to five.\n\n### Sunday\n\nClosed.\n\n## Prices ##\n\nLow.';
  expect(chunkText(text)).toEqual([
    '# Shop\n## Hours\nNine to five.',
    '# Shop\n## Hours\n### Sunday\nClosed.',
    '# Shop\n## Prices ##\nLow.',
  ]);
});

test('a number sign in code or without a space is no heading', () => {
  expect(chunkText('#1 in town\n\n```\n# comment\n```\n\nend')).toEqual([
    '#1 in town\n\n```\n# comment\n```\n\nend',
  ]);
});

test('paragraphs stay together as far as 800 characters go', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(390));
  expect(chunkText(`${a}\n\n${b}\n\n${c}`)).toEqual([`${a}\n\n${b}`, c]);
});

test('a long paragraph is cut between sentences, a long sentence between words', () => {
  const sentence = `${words(60)}. `;
  for (const chunk of chunkText(sentence.repeat(5))) expect(chunk).toMatch(/^word0 .*\.$/s);
  const chunks = chunkText(words(500));
  expect(chunks.join(' ')).toBe(words(500));
});

test('the heading is repeated on every chunk of its section', () => {
  const chunks = chunkText(`# Long\n\n${words(500)}`);
  expect(chunks.length).toBeGreaterThan(3);
  for (const chunk of chunks) expect(chunk).toMatch(/^# Long\nword/);
});

test('text without any space is cut, never through a character', () => {
  const chunks = chunkText(`x${'😀'.repeat(1000)}`);
  expect(chunks.join('')).toBe(`x${'😀'.repeat(1000)}`);
  for (const chunk of chunks) expect(chunk).not.toMatch(/[\uD800-\uDFFF]/u);
});

test('no chunk is longer than 800 characters and its headings', () => {
  const heading = `# ${'h'.repeat(500)}`;
  const text = `${heading}\n\n${words(300)}\n\n${'y'.repeat(5000)}\n\n${'line\n'.repeat(900)}`;
  for (const chunk of chunkText(text)) expect(chunk.length).toBeLessThanOrEqual(1001);
});

test('headings alone are a chunk, and line ends make no difference', () => {
  expect(chunkText('# One\n## Two')).toEqual(['# One\n## Two']);
  expect(chunkText('# A\r\n\r\ntext\r\nmore')).toEqual(chunkText('# A\n\ntext\nmore'));
});

test('nothing that was written is lost', () => {
  const text = `intro\n\n# A\n\n${words(400)}\n\n- item one\n- item two\n\n## B\n\n${'z'.repeat(2000)} end`;
  const joined = chunkText(text).join(' ');
  for (const word of text.split(/\s+/).filter((word) => word.length < 100)) expect(joined).toContain(word);
  expect(joined.match(/z/g)).toHaveLength(2000);
});
