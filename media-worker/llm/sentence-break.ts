/** A first clause shorter than this sounds chopped. CJK characters count three times. */
const MIN_CLAUSE_WEIGHT = 14;
/** A sentence that has not ended by then is cut at its last comma or space. */
const MAX_PENDING_CHARACTERS = 280;

const ABBREVIATIONS = new Set(
  (
    'mr mrs ms dr prof rev hon st jr sr vs etc approx dept est inc ltd co corp no nos vol fig ext tel apt ave blvd rd ' +
    'jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun ' +
    'e.g i.e a.m p.m u.s u.k ph.d bzw ca usw z.b d.h nr str sra srta sres av m mme mlle sig dott dhr mevr bijv'
  ).split(' '),
);
const CLOSERS = '"\'”’»)]}」』）】*_`';

export interface BreakOptions {
  /** No more text will come. */
  readonly isEnd: boolean;
  /** A comma will do. */
  readonly takesClause: boolean;
}

/** Where the first piece of `text` ends (an index past its last character), or null while that is not known. */
export function findBreak(text: string, { isEnd, takesClause }: BreakOptions): number | null {
  for (let i = 0; i < text.length; i++) {
    const sign = text.charAt(i);
    if (sign === '\n' && text.slice(0, i).trim() !== '') return i + 1;
    if ('。！？｡'.includes(sign)) return pastClosers(text, i + 1);
    if ('.!?…'.includes(sign)) {
      const enders = pastEnders(text, i + 1);
      const after = pastClosers(text, enders);
      if (after >= text.length) break;
      const isSoft = after > enders || sign === '…' || enders - i >= 3;
      const next = /\S/.exec(text.slice(after))?.[0];
      // "Really?" he said, and "Well... maybe" go on; what follows must be seen first.
      if (isSoft && next === undefined && !isEnd) break;
      const goesOn = isSoft && /\p{Ll}/u.test(next ?? '');
      if (/\s/.test(text.charAt(after)) && !goesOn && !isInside(text, i)) return after;
      i = after - 1;
    } else if (takesClause && isClauseEnd(text, i)) return i + 1;
  }
  if (isEnd) return text === '' ? null : text.length;
  return text.length > MAX_PENDING_CHARACTERS ? lastGap(text) : null;
}

function pastEnders(text: string, from: number): number {
  let at = from;
  while ('.!?…'.includes(text.charAt(at)) && at < text.length) at++;
  return at;
}

function pastClosers(text: string, from: number): number {
  let at = from;
  while (CLOSERS.includes(text.charAt(at)) && at < text.length) at++;
  return at;
}

/** True for a full stop that ends no sentence: after an abbreviation, an initial or the number of a list. */
function isInside(text: string, at: number): boolean {
  if (text.charAt(at) !== '.' || text.charAt(at + 1) === '.') return false;
  const word = /[^\s("'“‘«[*_]*$/.exec(text.slice(0, at))?.[0] ?? '';
  const before = text.slice(0, at - word.length).trim();
  if (/^\d{1,3}$/.test(word)) return before === '';
  if (/^\p{Lu}$/u.test(word)) return word !== 'I';
  if (!ABBREVIATIONS.has(word.toLowerCase())) return false;
  // "at 5 p.m. The…" ends; "at 5 p.m. on…" and "Dr. Smith" don't. A month or a title is followed by more anyway.
  const next = /\S/.exec(text.slice(at + 1))?.[0] ?? '';
  return !(/^(a\.m|p\.m|etc|inc|ltd|co|corp|u\.s|u\.k|jr|sr)$/i.test(word) && /\p{Lu}/u.test(next));
}

function isClauseEnd(text: string, at: number): boolean {
  const sign = text.charAt(at);
  const isWide = '，、；：'.includes(sign);
  if (!isWide && !(',;:—'.includes(sign) && /\s/.test(text.charAt(at + 1)))) return false;
  return weight(text.slice(0, at)) >= MIN_CLAUSE_WEIGHT;
}

function weight(text: string): number {
  const wide =
    text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0;
  return text.trim().length + 2 * wide;
}

function lastGap(text: string): number {
  const head = text.slice(0, MAX_PENDING_CHARACTERS);
  const comma = Math.max(head.lastIndexOf(', '), head.lastIndexOf('，'), head.lastIndexOf('、'));
  if (comma > MAX_PENDING_CHARACTERS / 2) return comma + 1;
  const space = head.lastIndexOf(' ');
  if (space > 0) return space + 1;
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length;
}
