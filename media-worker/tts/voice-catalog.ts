import { BUILTIN_VOICES, type BuiltinVoice, findBuiltinVoice } from '../../shared/builtin-voices.ts';

/**
 * The built-in voice that speaks `language` for a chosen voice id: the chosen one if it does, else the language's
 * own. Null for a language without a built-in voice.
 */
export function builtinVoice(voiceId: string | null, language: string): BuiltinVoice | null {
  const chosen = voiceId === null ? null : findBuiltinVoice(voiceId);
  if (chosen?.language === language) return chosen;
  return BUILTIN_VOICES.find((voice) => voice.language === language) ?? null;
}

/** What a configured service is told: its own voice names pass, ids of this product mean its default voice. */
export function serviceVoice(voiceId: string | null): string | null {
  return voiceId === null || /^[0-9a-f]{32}$/.test(voiceId) ? null : voiceId;
}

/**
 * The language whose voice must read `text`: `language`, unless that is written in Latin letters and the text
 * mainly in an East Asian script, which such a voice would leave out.
 */
export function readingLanguage(text: string, language: string): string {
  if (['ja', 'zh', 'ko'].includes(language)) return language;
  const letters = count(text, /\p{L}/gu);
  const kana = count(text, /[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  const han = count(text, /\p{Script=Han}/gu);
  const hangul = count(text, /\p{Script=Hangul}/gu);
  if (kana + han + hangul <= letters / 2) return language;
  if (hangul > kana + han) return 'ko';
  return kana > 0 ? 'ja' : 'zh';
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
