import type { ConversationView } from './conversation-view.ts';
import { viewConversation } from './conversation-view.ts';
import type { FactSearch } from './fact-search.ts';
import { longAnswer } from './long-answer.ts';
import { confirmed, remembered } from './memory.ts';
import { readPersona } from './persona.ts';
import { PHRASES, type Phrases } from './phrases.ts';
import { mergeSlots, readSlots, type Slots } from './slots.ts';
import { courtesy, greeting, introduction, isGoodbye } from './small-talk.ts';
import { answerFor, questionFor } from './tool-arguments.ts';
import { chooseTool, HANG_UP_TOOL } from './tool-choice.ts';
import { speakResult } from './tool-result.ts';

export interface Composed {
  readonly text: string;
  readonly toolCall: { readonly name: string; readonly args: Readonly<Record<string, unknown>> } | null;
}

type SearchIn = (view: ConversationView) => FactSearch;

const REPEAT =
  /\b(?:(?:say|repeat) (?:that|it)(?: again)?|repeat please|please repeat|(?:could|can) you repeat|pardon|come again|what did you (?:just )?say|i (?:didn't|did not) (?:hear|catch|get) (?:that|you))\b/i;
const GO_ON =
  /^\W*(?:please |yes |ok |okay |sorry |and )*(?:go on|go ahead|continue|carry on|keep going|what were you saying|please finish|finish (?:what|your))\b/i;
/** The clock is asked for where nothing but small words follows; "what time is breakfast" is about breakfast. */
const WHAT_TIME =
  /\bwhat(?:'s| is)? (?:the )?(?:current )?(?:time|day|date)(?: (?:is|it|today|now|right|please|then|there|of|the|week))*\W*$/i;
const HELP =
  /\b(?:what can you (?:do|tell me|help)|how can you help|what do you know|help me|what are my options)\b/i;

/** One reply by rules, the first that applies. The same conversation always gets the same reply. */
export function compose(view: ConversationView, searchIn: SearchIn): Composed {
  if (view.toolResults.length > 0) return afterTools(view);
  const phrases = PHRASES[view.language];
  if (phrases) return composeOtherLanguage(view, phrases, searchIn(view));
  const persona = readPersona(view.instructions);
  const text = view.callerText;
  if (text === null) return say(greeting(persona, view.instructions, view.greetingWish));
  if (isGoodbye(text)) return goodbye(view, 'Thank you for calling. Goodbye!');
  if (GO_ON.test(text)) return say(goOn(view, searchIn));
  const direct = talkAbout(view, text) ?? introduction(text, persona);
  if (direct !== null) return say(direct);
  const withTool = useTool(view, text);
  if (withTool) return withTool;
  const answer = courtesy(text) ?? answerFromText(view, text, searchIn(view));
  // The caller who cut in is told that they were understood to mean something new.
  return say(view.wasCutOff && !answer.startsWith('Okay') ? `Okay. ${answer}` : answer);
}

function say(text: string): Composed {
  return { text, toolCall: null };
}

function afterTools(view: ConversationView): Composed {
  const results = view.toolResults.filter((result) => result.name !== HANG_UP_TOOL);
  return say(results.map((result) => speakResult(result.content)).join(' '));
}

function goodbye(view: ConversationView, words: string): Composed {
  const canHangUp = view.tools.some((tool) => tool.name === HANG_UP_TOOL);
  return { text: words, toolCall: canHangUp ? { name: HANG_UP_TOOL, args: {} } : null };
}

/** What the caller says about the conversation itself: repeat, confirm, remember, the time. */
function talkAbout(view: ConversationView, text: string): string | null {
  if (REPEAT.test(text) && view.lastAgentText !== '') return `I said: ${view.lastAgentText}`;
  const agreed = confirmed(text, view.lastAgentText);
  if (agreed !== null) return agreed;
  if (!WHAT_TIME.test(text)) return null;
  const clock = /It is now ([^\n(]+)/.exec(view.callNotes)?.[1]?.trim();
  return clock ? `It is ${clock}.` : "I can't tell the time here.";
}

function useTool(view: ConversationView, text: string): Composed | null {
  const slots = toolSlots(view.earlierCallerTexts, text);
  const asked = askedBefore(view);
  if (asked) {
    const value = answerFor(asked.tool, asked.missing.name, text, slots);
    if (value === null) return null;
    return {
      text: 'One moment, please.',
      toolCall: { name: asked.tool.name, args: { ...asked.args, [asked.missing.name]: value } },
    };
  }
  const choice = chooseTool(view.tools, text, slots);
  if (!choice) return null;
  if (choice.missing) return say(choice.missing.question);
  return { text: 'One moment, please.', toolCall: { name: choice.tool.name, args: choice.args } };
}

/** Who the caller is holds for the whole call; a day or an hour only for what it was said with. */
function toolSlots(earlierTexts: readonly string[], text: string): Slots {
  const now = readSlots(text);
  return { ...mergeSlots([...earlierTexts.map(readSlots), now]), date: now.date, time: now.time };
}

/** The tool for which the agent's last words asked for an argument. */
function askedBefore(view: ConversationView) {
  const earlier = view.earlierCallerTexts.at(-1);
  if (earlier === undefined) return null;
  const choice = chooseTool(view.tools, earlier, toolSlots(view.earlierCallerTexts.slice(0, -1), earlier));
  if (!choice?.missing || questionFor(choice.missing.name) !== view.lastAgentText) return null;
  return { ...choice, missing: choice.missing };
}

function answerFromText(view: ConversationView, text: string, search: FactSearch): string {
  const long = longAnswer(text, search);
  if (long !== null) return long;
  const found = search.find(text);
  const told = readSlots(text);
  const memory = remembered(text, told, mergeSlots([...view.earlierCallerTexts.map(readSlots), told]));
  // A number or a name given is worth more than a sentence that happens to share a word with it.
  if (memory !== null) return memory;
  if (found.length > 0) return found.map((fact) => fact.text).join(' ');
  return askBack(view, search, HELP.test(text));
}

function askBack(view: ConversationView, search: FactSearch, isHelp: boolean): string {
  const topics = search.facts
    .map((fact) => fact.topic)
    .filter((topic) => topic !== '' && !topic.endsWith('?'));
  const offered = [...new Set(topics)].slice(0, 3);
  const list = offered.length > 1 ? `${offered.slice(0, -1).join(', ')} or ${offered.at(-1)}` : offered[0];
  const opening = isHelp ? '' : "I don't have anything about that. ";
  if (list) return `${opening}I can tell you about ${list}. What would you like to know?`;
  const hint = search.facts[view.earlierCallerTexts.length % Math.max(1, search.facts.length)]?.text;
  if (hint) return `${opening}What I can tell you is this: ${hint}`;
  return "I'm a simple built-in responder, and I was not given anything about that. Could you put it another way?";
}

/** The rest of the reply that the caller cut off: the same rules give the same words again. */
function goOn(view: ConversationView, searchIn: SearchIn): string {
  if (!view.wasCutOff) return 'That was all I had to say. What else would you like to know?';
  const before = viewConversation({
    messages: view.messagesBeforeLastAgent,
    tools: view.tools,
    language: view.language,
  });
  const words = compose(before, searchIn).text.split(/\s+/);
  const heard = view.lastAgentText.split(/\s+/);
  const isSame = heard.every((word, i) => word === words[i]);
  const rest = isSame ? words.slice(heard.length) : [];
  return rest.length > 0 ? rest.join(' ') : 'I had come to the end. What else would you like to know?';
}

function composeOtherLanguage(view: ConversationView, phrases: Phrases, search: FactSearch): Composed {
  const text = view.callerText;
  if (text === null) return say(phrases.greeting);
  if (phrases.isGoodbye.test(text)) return goodbye(view, phrases.goodbye);
  if (phrases.isWho.test(text)) return say(phrases.identity);
  const found = search.find(text);
  if (found.length > 0) return say(found.map((fact) => fact.text).join(' '));
  if (phrases.isThanks.test(text)) return say(phrases.welcome);
  if (phrases.isGreeting.test(text)) return say(phrases.greeting);
  return say(phrases.notFound);
}
