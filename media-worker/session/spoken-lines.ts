import type { LlmTool } from '../llm/llm-engine.ts';
import { HANG_UP_TOOL } from './reply.ts';

/** What the agent says when its model fails before the first sentence. */
const APOLOGIES: Readonly<Record<string, string>> = {
  en: 'Sorry, I lost my train of thought. Could you say that again?',
  ja: 'すみません、もう一度おっしゃっていただけますか。',
  zh: '抱歉，请您再说一遍，好吗？',
  ko: '죄송합니다. 다시 한번 말씀해 주시겠어요?',
  es: 'Perdón, no he podido responder. ¿Puede repetirlo?',
  fr: 'Pardon, je n’ai pas pu répondre. Pouvez-vous répéter ?',
  de: 'Entschuldigung, das hat nicht geklappt. Können Sie das noch einmal sagen?',
  pt: 'Desculpe, não consegui responder. Pode repetir?',
  it: 'Mi scusi, non sono riuscito a rispondere. Può ripetere?',
  nl: 'Sorry, dat lukte niet. Kunt u dat nog eens zeggen?',
};

export function apology(language: string): string {
  return APOLOGIES[language] ?? APOLOGIES['en'] ?? '';
}

/** The system tool with which the agent ends the call. */
export const HANG_UP: LlmTool = {
  name: HANG_UP_TOOL,
  description:
    'Ends the call. Use it when the caller says goodbye or has nothing more to ask, after saying goodbye yourself.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
};

export function hangUpResult(): string {
  return 'The call ends when your words have been heard.';
}
