const STOP_WORDS = new Set(
  (
    'a an and are as at be been but by can could did do does doing done for from get got had has have he her him his ' +
    'how i if in into is it its just know like me my no not of off on or our out over please say she so some tell than ' +
    'that the their them then there these they this to too um uh up us very want was we were what which who whom why ' +
    'will with would yes you your about when where also any anything hi hello hey ok okay well need now am im ive id ' +
    'youre dont whats thats let lets give take takes make much many long'
  ).split(' '),
);

/** Lower-case words without punctuation, also of languages written without spaces. */
export function wordsOf(text: string): string[] {
  const plain = text.toLowerCase().replace(/[’']/g, '');
  if (!/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(plain))
    return plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...new Intl.Segmenter('ja', { granularity: 'word' }).segment(plain)]
    .filter((part) => part.isWordLike)
    .map((part) => part.segment);
}

/** Words that carry meaning, reduced to a common form ("bookings", "booked" and "book" are one). */
export function contentStems(text: string): string[] {
  return wordsOf(text)
    .filter((word) => !STOP_WORDS.has(word))
    .map(stem);
}

export function stem(word: string): string {
  if (!/^[a-z]+$/.test(word) || word.length < 4) return word;
  return word
    .replace(/(ss)es$/, '$1')
    .replace(/ies$/, 'y')
    .replace(/([^su])s$/, '$1')
    .replace(/(.{3,})(?:ing|ed)$/, '$1')
    .replace(/([^aeiouls])\1$/, '$1')
    .replace(/(.{3,})e$/, '$1');
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
