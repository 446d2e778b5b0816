import type { ChatMessage } from './llm-engine.ts';

/** Headings of the system message. The built-in responder finds the agent's own words by them. */
export const CALL_HEADING = '## This call';
export const KNOWLEDGE_HEADING = '## Knowledge';

/** Ends an assistant message that the caller cut off: what stands before it was heard, nothing after it. */
export const CUT_OFF_MARK = ' …';

const LANGUAGE_NAMES: Readonly<Record<string, string>> = {
  en: 'English',
  ja: 'Japanese',
  zh: 'Chinese',
  ko: 'Korean',
  es: 'Spanish',
  fr: 'French',
  de: 'German',
  pt: 'Portuguese',
  it: 'Italian',
  nl: 'Dutch',
};

export interface PromptParts {
  /** The agent's, with its variables filled in. */
  readonly systemPrompt: string;
  /** Text of the knowledge sources that are put into the prompt; empty when there are none. */
  readonly knowledge: string;
  /** ISO 639-1. */
  readonly language: string;
  /** False for a session that withholds date and time. */
  readonly hasWorldContext: boolean;
  /** IANA name. */
  readonly timeZone: string;
}

/** The system message, made anew for each turn so that its clock is right. */
export function systemMessage(parts: PromptParts, nowMs: number): ChatMessage {
  const sections = [parts.systemPrompt.trim()];
  if (parts.knowledge.trim() !== '')
    sections.push(`${KNOWLEDGE_HEADING}\nFacts to answer from:\n\n${parts.knowledge.trim()}`);
  const call = [
    `This is a spoken conversation. Speak ${LANGUAGE_NAMES[parts.language] ?? parts.language}.`,
    'Answer in short sentences for the ear: no lists, headings, Markdown, emoji or links.',
    'The caller is heard through speech recognition: ask when something seems misheard.',
    `A message of yours that ends in "${CUT_OFF_MARK.trim()}" was cut off there: the caller heard nothing after it.`,
  ];
  if (parts.hasWorldContext) call.push(clockLine(nowMs, parts.timeZone));
  sections.push(`${CALL_HEADING}\n${call.join('\n')}`);
  return { role: 'system', content: sections.filter((section) => section !== '').join('\n\n') };
}

/** Asks for the agent's first words, as the last message of a conversation that has none yet. */
export function greetingInstruction(firstMessagePrompt: string): ChatMessage {
  return {
    role: 'system',
    content: `The call has just begun. Say your first words now. ${firstMessagePrompt}`.trim(),
  };
}

/** What is remembered of a reply: the words that were heard. Null when the caller cut it off before the first. */
export function heardMessage(heardText: string, wasInterrupted: boolean): ChatMessage | null {
  const text = heardText.trim();
  if (text === '') return null;
  return { role: 'assistant', content: wasInterrupted ? `${text}${CUT_OFF_MARK}` : text };
}

function clockLine(nowMs: number, timeZone: string): string {
  const now = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'long',
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  }).format(nowMs);
  return `It is now ${now} (${timeZone}).`;
}
