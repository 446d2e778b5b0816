import { Failure } from '../../../../shared/errors.ts';

/** A piece of a sentence that is synthesised by itself, so that the first one is heard soon. */
export interface FlitePiece {
  /** As they stand in the request. */
  readonly tokens: readonly string[];
  /** What Flite is given for each token; without a letter or digit it makes no sound. */
  readonly spokenTokens: readonly string[];
}

/** A longer piece is cut at its next comma: a second of speech costs about 14 ms of synthesis. */
const COMFORTABLE_PIECE_CHARACTERS = 50;
/** A rest shorter than this stays with the piece before: a few words by themselves sound lost. */
const MIN_REST_CHARACTERS = 15;
/** The caller waits for the first piece only. */
const COMFORTABLE_FIRST_CHARACTERS = 25;

const PLAIN: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '…': '...',
  '–': ',',
  '—': ',',
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ı: 'i',
  ð: 'th',
  Ð: 'Th',
  þ: 'th',
  Þ: 'Th',
  '€': ' euros ',
  '£': ' pounds ',
  '°': ' degrees ',
  '½': ' one half ',
};

/**
 * Cuts a request's text into pieces for Flite, which speaks ASCII only. Throws `Failure('unprocessable')` for a
 * letter outside the Latin script or a text with nothing to speak: Flite would drop it and answer with silence.
 */
export function fliteText(text: string): FlitePiece[] {
  if (/(?!\p{Script=Latin})\p{L}/u.test(text.normalize('NFKC')))
    throw new Failure('unprocessable', 'The English voice can only speak text in the Latin alphabet');
  const tokens = text.split(/\s+/).filter((token) => token !== '');
  const spokenTokens = tokens.map(asciiToken);
  if (!spokenTokens.some(isAudible)) throw new Failure('unprocessable', 'The text has nothing to speak');
  return cutAtCommas(tokens, spokenTokens);
}

export function isAudible(spokenToken: string): boolean {
  return /[a-z0-9]/i.test(spokenToken);
}

function asciiToken(token: string): string {
  const inOrder = token.replace(/([€£])(\d[\d.,]*\d|\d)/, '$2$1');
  const plain = [...inOrder].map((character) => PLAIN[character] ?? character).join('');
  return plain
    .normalize('NFKD')
    .replace(/[^\x20-\x7e]/g, '')
    .trim();
}

function cutAtCommas(tokens: readonly string[], spokenTokens: readonly string[]): FlitePiece[] {
  const pieces: FlitePiece[] = [];
  let from = 0;
  const cut = (to: number) => {
    const piece = { tokens: tokens.slice(from, to), spokenTokens: spokenTokens.slice(from, to) };
    if (!piece.spokenTokens.some(isAudible)) return;
    pieces.push(piece);
    from = to;
  };
  let length = 0;
  for (const [i, token] of spokenTokens.entries()) {
    length = i === from ? token.length : length + 1 + token.length;
    // Not after a full stop: it may end an abbreviation.
    const isClauseEnd = /[,;:?!]["')]?$/.test(token);
    const rest = spokenTokens.slice(i + 1);
    const hasRest = rest.some(isAudible) && rest.join(' ').length >= MIN_REST_CHARACTERS;
    const enough = pieces.length === 0 ? COMFORTABLE_FIRST_CHARACTERS : COMFORTABLE_PIECE_CHARACTERS;
    if (isClauseEnd && hasRest && length >= enough) cut(i + 1);
  }
  cut(tokens.length);
  return pieces;
}
