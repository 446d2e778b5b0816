import type { SpokenWord } from './tts-engine.ts';

/**
 * Syllables (in Japanese morae) a second of fluent speech, pauses left out; after Pellegrino, Coupé and Marsico,
 * "A cross-language perspective on speech information rate" (2011), with a tenth off for careful speech.
 */
const SYLLABLES_PER_S: Readonly<Record<string, number>> = {
  en: 5.6,
  ja: 7,
  zh: 4.7,
  ko: 5.5,
  es: 7,
  fr: 6.5,
  de: 5.4,
  pt: 6,
  it: 6.3,
  nl: 5.5,
};
const DEFAULT_SYLLABLES_PER_S = 5.5;
const COMMA_PAUSE_MS = 200;
const SENTENCE_PAUSE_MS = 350;

/** A guess at when each word of `text` is heard, for engines that don't tell. `pace` above 1 is slower. */
export function estimateWordTimes(text: string, language: string, pace: number): SpokenWord[] {
  const msPerSyllable = (1000 / (SYLLABLES_PER_S[language] ?? DEFAULT_SYLLABLES_PER_S)) * pace;
  let atMs = 0;
  return text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const startMs = atMs;
      const endMs = startMs + syllables(word) * msPerSyllable;
      atMs = endMs + pauseMs(word) * pace;
      return { text: word, startMs, endMs, isEstimated: true };
    });
}

function syllables(word: string): number {
  const cjk =
    word.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0;
  const digits = word.match(/\p{N}/gu)?.length ?? 0;
  const vowelGroups = word.normalize('NFD').match(/[aeiouy]+/gi)?.length ?? 0;
  const silentE = /[^aeiouyl]e[.,;:!?"')]*$/i.test(word) && vowelGroups > 1 ? 1 : 0;
  // A digit is a little longer than a syllable: "seven", "twenty".
  return Math.max(/[\p{L}\p{N}]/u.test(word) ? 1 : 0, cjk + digits * 1.4 + vowelGroups - silentE);
}

function pauseMs(word: string): number {
  if (/[.!?。！？]["')」』]*$/.test(word)) return SENTENCE_PAUSE_MS;
  return /[,;:、，；：]["')」』]*$/.test(word) ? COMMA_PAUSE_MS : 0;
}
