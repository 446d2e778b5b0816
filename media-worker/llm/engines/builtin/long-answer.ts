import type { FactSearch } from './fact-search.ts';
import { firstNumber, numberInWords } from './numbers.ts';

const MAX_COUNT = 200;
const MAX_FACTS = 20;
const COUNT = /\bcount\b(?:.*?\bfrom (.+?))?(?:.*?\b(?:up )?to (.+))?$/i;
const STORY = /\b(?:story|fairy ?tale)\b/i;
const EVERYTHING =
  /\b(?:(?:everything|all|anything) (?:about|you (?:know|have)|there is)|all about|tell me more|more about|in (?:full )?detail|a long (?:answer|time)|the whole)\b/i;

const STORY_SENTENCES = [
  'Here is a story about a lighthouse.',
  'Once upon a time there was a small lighthouse at the end of a long stone pier.',
  'Every evening an old keeper named Martha climbed the ninety steps to the top and lit the lamp.',
  'The fishermen knew her light, and they always waved when they came home.',
  'One winter a heavy storm came in from the north, and the waves were higher than the houses.',
  'The wind broke a window of the tower, and the lamp went out.',
  'Martha tried to light it again, but the rain came in and the matches were wet.',
  'Far away on the water three boats were looking for the harbor in the dark.',
  'So Martha ran down to the village and knocked on every door.',
  'The people took their lanterns, and they stood along the pier in a long row.',
  'From the sea it looked like a string of little stars that pointed the way home.',
  'One after the other, the three boats followed the lanterns into the harbor.',
  'In the morning the storm was over, and the whole village helped to mend the window.',
  'Since that night they walk down to the pier once every year with their lanterns.',
  'They do it to remember that a small light is enough when many people hold one.',
  'And that is the end of the story.',
];

/** An answer of many sentences when the caller asks for one: counting, a story, all there is about something. */
export function longAnswer(text: string, search: FactSearch): string | null {
  const count = COUNT.exec(text);
  if (count) return countAloud(count[1] ?? '', count[2] ?? '');
  if (STORY.test(text)) return STORY_SENTENCES.join(' ');
  if (!EVERYTHING.test(text)) return null;
  const subject = text
    .replace(EVERYTHING, ' ')
    .replace(/\b(?:explain|describe|tell me|can you|could you|long)\b/gi, ' ');
  const about = search.findAll(subject, MAX_FACTS);
  const facts = about.length > 0 ? about : search.facts.slice(0, MAX_FACTS);
  if (facts.length === 0) return null;
  return `${facts.map((fact) => fact.text).join(' ')} That is all I know about it.`;
}

function countAloud(fromText: string, toText: string): string {
  const from = Math.min(firstNumber(fromText) ?? 1, MAX_COUNT);
  const to = Math.min(firstNumber(toText) ?? 20, MAX_COUNT);
  const step = from <= to ? 1 : -1;
  const numbers: string[] = [];
  for (let n = from; n !== to + step; n += step) numbers.push(numberInWords(n));
  const groups: string[] = [];
  for (let i = 0; i < numbers.length; i += 5) groups.push(numbers.slice(i, i + 5).join(', '));
  return groups.map((group) => `${group.charAt(0).toUpperCase()}${group.slice(1)}.`).join(' ');
}
