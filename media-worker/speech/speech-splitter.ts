import { findBreak } from '../llm/sentence-break.ts';
import { spokenText } from '../llm/spoken-text.ts';
import type { Stage } from '../stage.ts';

/** What is spoken at once. */
export interface SpeechPiece {
  /** Plain text with something to speak in it. */
  readonly text: string;
  /** Number of the speaker the text names; 0 where it names none. */
  readonly speaker: number;
}

export interface SpeechSplitterOptions {
  /** Longest piece, in characters; at most 300, which every voice takes. */
  readonly chunkCharacters: number;
  readonly minChunkCharacters: number;
  /** The first clause makes a piece of its own. */
  readonly startsWithClause: boolean;
}

const SPEAKER_TAG = /<\|speaker:(\d{1,3})\|>/;
/** The end of the text may be the beginning of a tag. */
const PARTIAL_TAG = /<(?:\|(?:s(?:p(?:e(?:a(?:k(?:e(?:r(?::(?:\d{1,3}(?:\|)?)?)?)?)?)?)?)?)?)?)?$/;

/**
 * Turns text, as it comes, into pieces for the voice: sentences, the short ones put together, the long ones cut;
 * the first one at once. A change of speaker ends a piece. Tags are never spoken.
 */
export class SpeechSplitter implements Stage<string, SpeechPiece> {
  readonly #options: SpeechSplitterOptions;
  #pending = '';
  /** Complete sentences that are too short to be spoken alone. */
  #gathered = '';
  #speaker = 0;
  #hasSpoken = false;

  constructor(options: SpeechSplitterOptions) {
    this.#options = options;
  }

  /** Text that waits for more. */
  get waitingCharacters(): number {
    return this.#pending.length + this.#gathered.length;
  }

  push(text: string): SpeechPiece[] {
    this.#pending += text;
    return this.#take(false);
  }

  /** Whatever waits, as it is. What comes next begins anew, its first piece early again. */
  flush(): SpeechPiece[] {
    const pieces = this.#take(true);
    this.#pending = '';
    this.#hasSpoken = false;
    return pieces;
  }

  #take(isEnd: boolean): SpeechPiece[] {
    const pieces: SpeechPiece[] = [];
    for (;;) {
      const tag = SPEAKER_TAG.exec(this.#pending);
      if (!tag) break;
      const before = this.#pending.slice(0, tag.index);
      this.#pending = this.#pending.slice(tag.index + tag[0].length);
      pieces.push(...this.#split(before, true).pieces);
      this.#speaker = Number(tag[1]);
    }
    const partial = isEnd ? null : PARTIAL_TAG.exec(this.#pending);
    const whole = partial ? this.#pending.slice(0, partial.index) : this.#pending;
    const { pieces: more, rest } = this.#split(whole, isEnd);
    this.#pending = rest + (partial ? partial[0] : '');
    return [...pieces, ...more];
  }

  #split(text: string, isEnd: boolean): { pieces: SpeechPiece[]; rest: string } {
    const pieces: SpeechPiece[] = [];
    let rest = text;
    for (;;) {
      const takesClause = this.#options.startsWithClause && !this.#hasSpoken && this.#gathered === '';
      const at = findBreak(rest, { isEnd, takesClause });
      if (at === null) break;
      pieces.push(...this.#gather(rest.slice(0, at)));
      rest = rest.slice(at);
    }
    if (isEnd) pieces.push(...this.#speakGathered());
    return { pieces, rest };
  }

  /** Takes a sentence; answers what is long enough to be spoken. */
  #gather(raw: string): SpeechPiece[] {
    const sentence = spokenText(raw);
    if (sentence === '') return [];
    const joined = this.#gathered === '' ? sentence : `${this.#gathered} ${sentence}`;
    const pieces = joined.length > this.#options.chunkCharacters ? this.#speakGathered() : [];
    this.#gathered = pieces.length > 0 ? sentence : joined;
    const isEnough = !this.#hasSpoken || this.#gathered.length >= this.#options.minChunkCharacters;
    return isEnough ? [...pieces, ...this.#speakGathered()] : pieces;
  }

  #speakGathered(): SpeechPiece[] {
    const text = this.#gathered;
    this.#gathered = '';
    if (text === '') return [];
    this.#hasSpoken = true;
    return cutLong(text, this.#options.chunkCharacters).map((part) => ({
      text: part,
      speaker: this.#speaker,
    }));
  }
}

/** Cuts at a comma, else at a space, else anywhere but between the halves of a surrogate pair. */
function cutLong(text: string, maxCharacters: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > maxCharacters) {
    const head = rest.slice(0, maxCharacters + 1);
    const sign = Math.max(...[', ', '; ', ': ', '，', '、', '；'].map((mark) => head.lastIndexOf(mark) + 1));
    const space = head.lastIndexOf(' ');
    let at = sign > maxCharacters / 2 ? sign : space > 0 ? space : maxCharacters;
    if (/[\ud800-\udbff]/.test(rest.charAt(at - 1))) at--;
    parts.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  parts.push(rest);
  return parts.filter((part) => spokenText(part) !== '');
}
