import type { Stage } from '../stage.ts';
import { findBreak } from './sentence-break.ts';
import { spokenText } from './spoken-text.ts';

/** What every voice takes at once. */
const MAX_PIECE_CHARACTERS = 300;

/**
 * Turns a model's text, as it comes, into pieces for the voice: whole sentences, but of the reply's first sentence
 * already its first clause, so that the caller hears it early. Pieces are spoken text (see `spokenText`), at most
 * 300 characters, never empty; joined by spaces they are the spoken text of the whole. One splitter per reply.
 */
export class SentenceSplitter implements Stage<string, string> {
  #pending = '';
  #hasSpoken = false;

  push(text: string): string[] {
    this.#pending += text;
    return this.#take(false);
  }

  /** The rest, after the last text. */
  flush(): string[] {
    const pieces = this.#take(true);
    this.#pending = '';
    return pieces;
  }

  #take(isEnd: boolean): string[] {
    const pieces: string[] = [];
    for (;;) {
      const at = findBreak(this.#pending, { isEnd, takesClause: !this.#hasSpoken });
      if (at === null) return pieces;
      const piece = spokenText(this.#pending.slice(0, at));
      this.#pending = this.#pending.slice(at);
      if (piece === '') continue;
      this.#hasSpoken = true;
      pieces.push(...cutLong(piece));
    }
  }
}

/** A sentence longer than a voice takes is cut at a comma, else at a space, else anywhere. */
function cutLong(piece: string): string[] {
  const parts: string[] = [];
  let rest = piece;
  while (rest.length > MAX_PIECE_CHARACTERS) {
    const head = rest.slice(0, MAX_PIECE_CHARACTERS + 1);
    const comma = Math.max(...[', ', '; ', ': ', '，', '、', '；'].map((sign) => head.lastIndexOf(sign) + 1));
    const space = head.lastIndexOf(' ');
    let at = comma > MAX_PIECE_CHARACTERS / 2 ? comma : space > 0 ? space : MAX_PIECE_CHARACTERS;
    // Never between the halves of a surrogate pair.
    if (/[\ud800-\udbff]/.test(rest.charAt(at - 1))) at--;
    parts.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  parts.push(rest);
  return parts.filter((part) => spokenText(part) !== '');
}
