const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = ['', '', ...'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')];

/**
 * Fewest substitutions, insertions and deletions that make `hypothesis` of `reference`, and the reference's words.
 * Case, punctuation, hyphens and apostrophes don't count; numbers up to 9999 are the words they are spoken as.
 */
export function wordErrors(reference: string, hypothesis: string): { errors: number; words: number } {
  const want = words(reference);
  const got = words(hypothesis);
  let row = Array.from({ length: got.length + 1 }, (_, i) => i);
  for (const [i, word] of want.entries()) {
    const next = [i + 1];
    for (const [j, other] of got.entries()) {
      next.push(
        Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (word === other ? 0 : 1)),
      );
    }
    row = next;
  }
  return { errors: row.at(-1) ?? 0, words: want.length };
}

function words(text: string): string[] {
  const plain = text
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/(\d),(?=\d{3}\b)/g, '$1')
    .replace(/\d+/g, (digits) => ` ${spoken(digits)} `)
    .normalize('NFKD');
  return plain.match(/\p{L}+/gu) ?? [];
}

function spoken(digits: string): string {
  const value = Number(digits);
  const isReadDigitByDigit = digits.length > 4 || (digits.length > 1 && digits.startsWith('0'));
  if (isReadDigitByDigit) return [...digits].map((digit) => SMALL[Number(digit)]).join(' ');
  return upTo9999(value);
}

function upTo9999(value: number): string {
  if (value < 20) return SMALL[value] ?? '';
  if (value < 100) return withRest(TENS[Math.floor(value / 10)] ?? '', value % 10);
  if (value < 1000) return withRest(`${SMALL[Math.floor(value / 100)]} hundred`, value % 100);
  return withRest(`${SMALL[Math.floor(value / 1000)]} thousand`, value % 1000);
}

function withRest(head: string, rest: number): string {
  return rest === 0 ? head : `${head} ${upTo9999(rest)}`;
}
