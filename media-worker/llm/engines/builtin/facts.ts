import { findBreak } from '../../sentence-break.ts';
import { spokenText } from '../../spoken-text.ts';
import { capitalised } from './words.ts';

/** Something the agent may say, as it stands in its prompt or knowledge. */
export interface Fact {
  readonly order: number;
  readonly text: string;
  /** Heading or question it stands under; empty when there is none. */
  readonly topic: string;
}

const PEOPLE =
  '(?:the |a |any )?(?:callers?|customers?|users?|clients?|guests?|patients?|people|them|everyone)';
const TELL_THAT = new RegExp(
  `^(?:please )?(?:(?:tell|inform|remind) ${PEOPLE}|let ${PEOPLE} know|say|mention|explain)(?: that|:)? `,
  'i',
);
const IF_ASKED =
  /^(?:if|when)\b.{0,40}?\bask(?:s|ed)?(?: you)?(?: about| for| if)? (.+?),? (?:then )?(?:say|answer|reply|respond|tell them)(?: that| with|:)? ["“]?(.+?)["”]?$/i;
const IDENTITY = /^[Yy]ou(?:'re|’re| are) (?:an?|the|called|named|[A-Z])/;
const INSTRUCTION =
  /^(?:please |and |then )?(?:be|act|always|never|do not|don['’]t|keep|use|speak|respond|reply|answer|help|greet|ask|avoid|make|remember|try|stay|if|when|only|start|end|offer|confirm|collect|introduce|follow|talk|refer|treat|wait|listen|transfer|pretend|give|provide|assist|welcome|your (?:job|role|goal|task|name|aim)|you (?:should|must|can|may|will|need|speak|answer|help))\b/i;

/** What the prompt and the knowledge state, sentence by sentence; instructions to the agent are left out. */
export function readFacts(instructions: string, knowledge: string): Fact[] {
  const facts: Fact[] = [];
  const add = (text: string, topic: string) => {
    const spoken = spokenText(text);
    if (spoken !== '') facts.push({ order: facts.length, text: capitalised(spoken), topic });
  };
  for (const { sentence, topic } of sentencesOf(instructions)) addOfPrompt(sentence, topic, add);
  for (const { sentence, topic } of sentencesOf(knowledge)) add(sentence, topic);
  return facts;
}

function addOfPrompt(sentence: string, topic: string, add: (text: string, topic: string) => void): void {
  const asked = IF_ASKED.exec(sentence.replace(/[."”]+$/, ''));
  if (asked) return add(`${asked[2] ?? ''}.`, asked[1] ?? '');
  if (TELL_THAT.test(sentence))
    return add(sentence.replace(TELL_THAT, '').replace(/^["“](.*?)["”]?$/, '$1'), topic);
  if (IDENTITY.test(sentence) || INSTRUCTION.test(sentence)) return;
  // The prompt speaks to the agent; the agent speaks for the house.
  add(sentence.replace(/^you\b/i, 'We').replace(/\byour\b/gi, 'our'), topic);
}

function sentencesOf(text: string): { sentence: string; topic: string }[] {
  const found: { sentence: string; topic: string }[] = [];
  let topic = '';
  for (const line of text.split('\n')) {
    const heading = /^\s*(?:#{1,6}\s+(.+?)|\**([^.!?:]{2,40}):\**)\s*$/.exec(line);
    const question = /^\s*(?:[-*]\s*)?\**(?:q|question)\**\s*[:.]\**\s*(.+)$/i.exec(line);
    if (heading) topic = spokenText(heading[1] ?? heading[2] ?? '');
    else if (question) topic = spokenText(question[1] ?? '');
    else {
      const body = line.replace(/^\s*(?:[-*•]\s+|\d+[.)]\s+)?(?:\**(?:a|answer)\**\s*[:.]\**\s+)?/i, '');
      for (const sentence of splitSentences(body)) found.push({ sentence, topic });
    }
  }
  return found;
}

function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const at = findBreak(rest, { isEnd: true, takesClause: false }) ?? rest.length;
    sentences.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return sentences;
}
