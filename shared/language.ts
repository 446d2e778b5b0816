import { type Static, Type } from 'typebox';

/** Languages an agent can hold a conversation in, ISO 639-1. */
export const LANGUAGES = ['en', 'ja', 'zh', 'ko', 'es', 'fr', 'de', 'pt', 'it', 'nl'] as const;

export const Language = Type.Enum([...LANGUAGES]);
export type Language = Static<typeof Language>;

/** Languages a post-call summary can be written in, ISO 639-1. */
export const SummaryLanguage = Type.Enum(['en', 'zh', 'ja', 'ko', 'es', 'fr', 'de', 'pt', 'ru', 'ar']);
export type SummaryLanguage = Static<typeof SummaryLanguage>;
