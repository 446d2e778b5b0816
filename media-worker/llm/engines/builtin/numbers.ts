const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/** Whole numbers from 0 to 999 in English words. */
export function numberInWords(value: number): string {
  const small = SMALL[value];
  if (small !== undefined) return small;
  if (value < 100) {
    const ones = value % 10;
    const tens = TENS[Math.floor(value / 10) - 2] ?? '';
    return ones === 0 ? tens : `${tens}-${SMALL[ones] ?? ''}`;
  }
  const rest = value % 100;
  const hundreds = `${SMALL[Math.floor(value / 100)] ?? ''} hundred`;
  return rest === 0 ? hundreds : `${hundreds} and ${numberInWords(rest)}`;
}

/** The first number in the text, in digits or English words up to 999; null when there is none. */
export function firstNumber(text: string): number | null {
  const digits = /\d+(?:\.\d+)?/.exec(text.replace(/(\d),(?=\d{3})/g, '$1'));
  if (digits) return Number(digits[0]);
  const words = text.toLowerCase().split(/[^a-z]+/);
  let value: number | null = null;
  for (const word of words) {
    const small = SMALL.indexOf(word);
    const tens = TENS.indexOf(word);
    if (small >= 0) value = (value ?? 0) + small;
    else if (tens >= 0) value = (value ?? 0) + (tens + 2) * 10;
    else if (word === 'hundred' && value !== null) value *= 100;
    else if (value !== null && word !== 'and') return value;
  }
  return value;
}

/** The longest run of digits, spoken one by one or written ("five five five 12 34"); at least three, else null. */
export function digitRun(text: string): string | null {
  const runs: string[] = [];
  let run = '';
  for (const token of text.toLowerCase().split(/[^a-z0-9]+/)) {
    const spoken = token === 'oh' && run !== '' ? 0 : SMALL.slice(0, 10).indexOf(token);
    if (/^\d+$/.test(token)) run += token;
    else if (spoken >= 0) run += spoken;
    else {
      runs.push(run);
      run = '';
    }
  }
  runs.push(run);
  const longest = runs.reduce((best, next) => (next.length > best.length ? next : best));
  return longest.length >= 3 ? longest : null;
}
