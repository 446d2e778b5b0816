import { describePersona, type Persona } from './persona.ts';
import { contentStems } from './words.ts';

export const GOODBYE =
  /\b(?:good ?bye|bye(?: bye)?|see you(?: later| soon)?|have a (?:nice|good|great) (?:day|evening|one|night)|that(?:'?s| is| will be|'ll be) all|hang up|talk to you later|nothing else)\b/i;
const MAX_GOODBYE_WORDS = 12;

interface Rule {
  readonly when: RegExp;
  readonly say: string;
}

/** Said when nothing else of meaning stands beside it. */
const COURTESIES: readonly Rule[] = [
  {
    when: /\bhow (?:are|'re) (?:you|things)\b|\bhow('s| is) it going\b/i,
    say: "I'm doing well, thank you. How can I help you?",
  },
  {
    when: /\b(?:thank you|thanks|cheers)\b/i,
    say: "You're welcome. Is there anything else I can do for you?",
  },
  {
    when: /\bcan you hear me|are you (?:still )?there|anybody there|testing\b/i,
    say: 'Yes, I can hear you. How can I help you?',
  },
  {
    when: /^\W*(?:stop|wait|hold on|be quiet|enough|one moment|just a (?:moment|second|minute)|hang on)\b/i,
    say: "Okay. I'm listening.",
  },
  { when: /\bnice to meet you\b/i, say: 'Nice to meet you too. How can I help you?' },
  { when: /\b(?:good (?:morning|afternoon|evening|day)|hello|hi|hey)\b/i, say: 'Hello! How can I help you?' },
  {
    when: /^\W*(?:no|nope|no thank you|no thanks)\W*$/i,
    say: 'All right. Just tell me if you need anything else.',
  },
  {
    when: /^\W*(?:yes|yeah|yep|sure|ok|okay|right|great|good|perfect|alright|all right)\W*$/i,
    say: 'Great. What would you like to know?',
  },
];

const WHO_ARE_YOU =
  /\b(?:who are you|what are you|what(?:'s| is) your name|who am i (?:talking|speaking) (?:to|with)|are you (?:a |an )?(?:real|human|person|robot|bot|machine|computer|ai|artificial|language model)|(?:is this|am i talking to) (?:a |an )?(?:real|human|person|robot|bot|machine|computer|ai))\b/i;

export function isGoodbye(text: string): boolean {
  return GOODBYE.test(text) && text.split(/\s+/).length <= MAX_GOODBYE_WORDS;
}

/** The honest answer to who is speaking; null when that was not asked. */
export function introduction(text: string, persona: Persona): string | null {
  if (!WHO_ARE_YOU.test(text)) return null;
  const who = describePersona(persona);
  const standingIn = who ? ` Here I speak as ${who}.` : '';
  return `I'm Parley's built-in responder, not a person and not a language model.${standingIn} I answer from the text this agent was given.`;
}

/** The answer to a courtesy that comes alone; null when the caller also asked for something. */
export function courtesy(text: string): string | null {
  const rule = COURTESIES.find(({ when }) => when.test(text));
  if (!rule) return null;
  const rest = text
    .replace(rule.when, ' ')
    .replace(
      /\b(?:good (?:morning|afternoon|evening|day)|today|much|lot|doing|again|thank you|thanks|very|really|great|second|moment|minute)\b/gi,
      ' ',
    );
  return contentStems(rest).length === 0 ? rule.say : null;
}

const QUOTED = /["“]([^"”]{5,300})["”]/;
const QUOTED_GREETING =
  /\b(?:greet\w*|first words?|open(?:ing)? (?:with|by|line)|(?:begin|start)\w*)\b[^."“\n]{0,60}["“]([^"”]{5,300})["”]/i;

/** The agent's first words, as its prompt or `wanted` gives them, else its name and an offer of help. */
export function greeting(persona: Persona, instructions: string, wanted: string): string {
  // A wish that gives the words in quotes means those.
  const given = QUOTED.exec(wanted)?.[1] ?? QUOTED_GREETING.exec(instructions)?.[1];
  if (given) return given;
  const who = describePersona(persona);
  return who ? `Hello, this is ${who}. How can I help you today?` : 'Hello! How can I help you today?';
}
