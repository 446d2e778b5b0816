import { expect, test } from 'vitest';
import { BUILTIN_VOICES, builtinVoiceFor, DEFAULT_VOICE_ID, findBuiltinVoice } from './builtin-voices.ts';
import { LANGUAGES } from './language.ts';

test.each(LANGUAGES)('a built-in voice speaks %s', (language) => {
  expect(builtinVoiceFor(language)?.language).toBe(language);
});

test('voices have ids of their own, 32 lower-case hex digits', () => {
  const ids = BUILTIN_VOICES.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});

test('the default voice is one of them; an unknown id is none', () => {
  expect(findBuiltinVoice(DEFAULT_VOICE_ID)).toMatchObject({ engine: 'flite', engineVoice: 'slt' });
  expect(findBuiltinVoice('0'.repeat(32))).toBeNull();
});
