import { plainWords } from './backchannel.ts';
import type { TurnSettings } from './turn-state.ts';

/** Words after which hardly anybody stops: the sentence goes on. Per language, last word of the text. */
const OPEN_ENDINGS: Readonly<Record<string, readonly string[]>> = {
  en: [
    'and',
    'or',
    'but',
    'so',
    'because',
    'if',
    'when',
    'that',
    'the',
    'a',
    'an',
    'to',
    'of',
    'for',
    'with',
    'in',
    'on',
    'at',
    'my',
    'your',
    'is',
    'are',
    'was',
    'um',
    'uh',
    'like',
    'about',
    'from',
  ],
  es: ['y', 'o', 'pero', 'porque', 'que', 'de', 'la', 'el', 'un', 'una', 'para', 'con', 'mi', 'en'],
  fr: ['et', 'ou', 'mais', 'parce', 'que', 'de', 'la', 'le', 'un', 'une', 'pour', 'avec', 'mon', 'ma', 'euh'],
  de: ['und', 'oder', 'aber', 'weil', 'dass', 'der', 'die', 'das', 'ein', 'eine', 'mit', 'für', 'mein', 'äh'],
  pt: ['e', 'ou', 'mas', 'porque', 'que', 'de', 'a', 'o', 'um', 'uma', 'para', 'com', 'meu', 'minha'],
  it: ['e', 'o', 'ma', 'perché', 'che', 'di', 'la', 'il', 'un', 'una', 'per', 'con', 'mio', 'mia'],
  nl: ['en', 'of', 'maar', 'omdat', 'dat', 'de', 'het', 'een', 'voor', 'met', 'mijn', 'eh'],
};

const OPEN_ENDING_EXTRA_MS = 600;
const DIGITS_EXTRA_MS = 500;
const QUESTION_FACTOR = 0.7;
const SHORTEST_MS = 300;
const LONGEST_MS = 4_000;
const EAGERNESS_MS = { relaxed: 250, balanced: 0, eager: -200 } as const;

/**
 * How long after the last speech the caller's turn counts as over, in ms: the configured wait, shifted by
 * eagerness, longer when the text is visibly unfinished or a number is being read out, shorter after a question.
 */
export function endOfTurnWaitMs(settings: TurnSettings, text: string): number {
  let waitMs = settings.responseWaitMs + EAGERNESS_MS[settings.eagerness];
  const words = plainWords(text).split(' ');
  const last = words.at(-1) ?? '';
  if (OPEN_ENDINGS[settings.language]?.includes(last)) waitMs += OPEN_ENDING_EXTRA_MS;
  else if (/^\p{N}+$/u.test(last) && words.length > 1) waitMs += DIGITS_EXTRA_MS;
  else if (/[?？]\s*$/.test(text)) waitMs *= QUESTION_FACTOR;
  const upperMs = Math.min(LONGEST_MS, settings.responseMaxWaitMs ?? LONGEST_MS);
  return Math.min(Math.max(waitMs, SHORTEST_MS), Math.max(upperMs, SHORTEST_MS));
}
