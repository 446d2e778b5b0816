import type { Slots } from './slots.ts';

const MY_NAME =
  /\b(?:what(?:'s| is| was) my name|(?:know|remember) my name|who am i\b(?! (?:talking|speaking)))/i;
const MY_NUMBER =
  /\b(?:what(?:'s| is| was)|(?:know|remember|repeat)) (?:my|the) (?:\w+ )?number\b|\bnumber did i\b/i;
const GIVES_NUMBER = /\b(?:number|code|account|order|phone|id|pin|zip|reservation|booking|it(?:'?s| is))\b/i;

/** Confirms what the caller has just told about themselves, or tells it back when asked. Null when it is neither. */
export function remembered(text: string, told: Slots, known: Slots): string | null {
  if (MY_NAME.test(text))
    return known.name
      ? `You told me your name is ${known.name}.`
      : "You haven't told me your name yet. What is it?";
  if (MY_NUMBER.test(text) && !told.number)
    return known.number
      ? `The number you gave me is ${spaced(known.number)}.`
      : "You haven't given me a number yet. What is it?";
  if (told.email) return `I have your email as ${told.email}. Is that right?`;
  if (told.number && (GIVES_NUMBER.test(text) || text.split(/\s+/).length <= told.number.length + 2))
    return `I have ${spaced(told.number)}. Is that right?`;
  if (told.name) return `Nice to meet you, ${told.name}. How can I help you?`;
  return null;
}

/** The answer to "Is that right?"; null when that was not the question. */
export function confirmed(text: string, lastAgentText: string): string | null {
  if (!/is that right\?$/i.test(lastAgentText.trim())) return null;
  if (/^\W*(?:yes|yeah|yep|correct|right|that's right|it is|sure|exactly)\b/i.test(text))
    return 'Thank you, I have noted that. What else can I do for you?';
  if (/^\W*(?:no|nope|wrong|not)\b/i.test(text)) return "I'm sorry. Please tell me once more.";
  return null;
}

/** Digits one by one. */
function spaced(digits: string): string {
  return [...digits].join(' ');
}
