import type { Language } from './language.ts';

/** A voice that speaks without any key or account. */
export interface BuiltinVoice {
  /** What `voice.voice_id` and `reference_id` name. */
  readonly id: string;
  readonly name: string;
  readonly language: Language;
  readonly engine: 'flite' | 'espeak';
  /** The engine's own name of the voice. */
  readonly engineVoice: string;
}

/** Speaks when nobody chose a voice: Sally, English. */
export const DEFAULT_VOICE_ID = '0e077d25dea2782778dbf851f710b3b3';

export const BUILTIN_VOICES: readonly BuiltinVoice[] = [
  { id: DEFAULT_VOICE_ID, name: 'Sally', language: 'en', engine: 'flite', engineVoice: 'slt' },
  flite('cc52365babcd24797e296bfecb63ec05', 'Russell', 'rms'),
  flite('6492bbfd9ab004ed8fc3b2e04a1fd829', 'Alan', 'awb'),
  flite('cf6629467f3efc04206a41019c682a96', 'Kevin', 'kal16'),
  espeak('d3dee355a9a034e9319cfd3a389c9145', 'Japanese', 'ja', 'ja'),
  espeak('2165a88fd5ba7a6b985248f0acf968cd', 'Mandarin', 'zh', 'cmn'),
  espeak('083356da78a562cef566a918ae29ad60', 'Korean', 'ko', 'ko'),
  espeak('c023afabdc3e1970fa88a29b7a5aa750', 'Spanish', 'es', 'es'),
  espeak('413f1284df4137b91d3cf3400be40905', 'French', 'fr', 'fr'),
  espeak('a741f1d0ed1a039ebc2a526f5d7c3352', 'German', 'de', 'de'),
  espeak('7267ec31441aabc4844406f1356ffe4b', 'Portuguese', 'pt', 'pt'),
  espeak('b15d1c8b00c47cf996011b33bf26b960', 'Italian', 'it', 'it'),
  espeak('0f40c7763e3cdded1205a7241c638808', 'Dutch', 'nl', 'nl'),
];

/** The built-in voice that speaks `language` when the chosen voice doesn't: the first of the table. */
export function builtinVoiceFor(language: Language): BuiltinVoice | null {
  return BUILTIN_VOICES.find((voice) => voice.language === language) ?? null;
}

export function findBuiltinVoice(id: string): BuiltinVoice | null {
  return BUILTIN_VOICES.find((voice) => voice.id === id) ?? null;
}

function flite(id: string, name: string, engineVoice: string): BuiltinVoice {
  return { id, name, language: 'en', engine: 'flite', engineVoice };
}

function espeak(id: string, name: string, language: Language, engineVoice: string): BuiltinVoice {
  return { id, name, language, engine: 'espeak', engineVoice };
}
