import { digitRun } from './numbers.ts';
import { capitalised } from './words.ts';

/** What the caller told about themselves; null where they didn't. */
export interface Slots {
  readonly name: string | null;
  /** Digits of a number they gave (telephone, order, account). */
  readonly number: string | null;
  readonly email: string | null;
  /** In the caller's words: "next Friday", "tomorrow". */
  readonly date: string | null;
  /** In the caller's words: "half past ten", "3 pm". */
  readonly time: string | null;
}

const NOT_A_NAME = new Set(
  (
    'a an the not sorry here looking calling trying interested wondering just so very really fine good ok okay done ' +
    'ready happy sure going from in at on it that what who my your our hungry busy late lost back afraid also still new'
  ).split(' '),
);
const NAME =
  "([\\p{L}][\\p{L}'’-]+(?: (?!and\\b|from\\b|but\\b|i\\b|calling\\b|here\\b|speaking\\b|please\\b)[\\p{L}][\\p{L}'’-]+)?)";
const STATED_NAME = new RegExp(`\\b(?:my name(?: is|['’]s)|name is|call me) ${NAME}`, 'iu');
const SHORT_NAME = new RegExp(
  `^(?:(?:hi|hello|yes|well|hey),? )?(?:i am|i['’]m|this is|it['’]s) ${NAME}(?: (?:speaking|here|calling))?[.!]?$`,
  'iu',
);
const WEEKDAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day';
const MONTH = '(?:january|february|march|april|may|june|july|august|september|october|november|december)';
const DATE = new RegExp(
  `\\b(?:(?:day after )?tomorrow|today|tonight|(?:(?:next|this|on) )?${WEEKDAY}(?: (?:morning|afternoon|evening))?|next week|${MONTH} (?:the )?[\\w-]+|\\d{4}-\\d{2}-\\d{2}|\\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTH})\\b`,
  'i',
);
const HOUR = '(?:\\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)';
const TIME = new RegExp(
  `\\b(?:noon|midnight|(?:half past|quarter (?:past|to)) ${HOUR}|\\d{1,2}:\\d{2}(?: ?[ap]\\.?m\\b\\.?)?|${HOUR} ?(?:[ap]\\.?m\\b\\.?|o['’]?clock)|(?<=\\bat )${HOUR}(?: thirty)?)`,
  'i',
);

/** Reads one turn of the caller. */
export function readSlots(text: string): Slots {
  const email = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/.exec(text)?.[0] ?? spokenEmail(text);
  return {
    name: readName(text),
    number: digitRun(text),
    email,
    date: DATE.exec(text)?.[0] ?? null,
    time: TIME.exec(text)?.[0] ?? null,
  };
}

/** The latest of each over several turns, oldest first. */
export function mergeSlots(turns: readonly Slots[]): Slots {
  const latest = <K extends keyof Slots>(key: K) =>
    turns.findLast((turn) => turn[key] !== null)?.[key] ?? null;
  return {
    name: latest('name'),
    number: latest('number'),
    email: latest('email'),
    date: latest('date'),
    time: latest('time'),
  };
}

function readName(text: string): string | null {
  const plain = text.trim();
  const found = STATED_NAME.exec(plain)?.[1] ?? SHORT_NAME.exec(plain)?.[1];
  const first = found?.split(' ')[0]?.toLowerCase();
  if (!found || !first || NOT_A_NAME.has(first) || /(?:ing|ed)$/.test(first)) return null;
  return found.split(' ').map(capitalised).join(' ');
}

function spokenEmail(text: string): string | null {
  const spoken = /\b([\w.]+) at ([\w-]+) dot (com|org|net|edu|io|dev)\b/i.exec(text);
  return spoken ? `${spoken[1]}@${spoken[2]}.${spoken[3]}`.toLowerCase() : null;
}
