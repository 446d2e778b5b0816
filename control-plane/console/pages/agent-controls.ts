import type { DraftField } from '../agent-draft.ts';
import type { Choices, Eagerness, FirstMessageMode } from '../api-types.ts';
import { h } from '../dom.ts';
import { type Control, options } from '../field.ts';
import { languageName } from '../format.ts';

const MODES: readonly (readonly [FirstMessageMode, string])[] = [
  ['fixed', 'Say these words'],
  ['prompt', 'Find its own words, by an instruction'],
  ['off', 'Wait for the caller to speak first'],
];
const EAGERNESS: readonly (readonly [Eagerness, string])[] = [
  ['relaxed', 'Relaxed: leaves long pauses'],
  ['balanced', 'Balanced'],
  ['eager', 'Eager: answers quickly'],
];

/** One control for each field of an agent. */
export function createAgentControls(choices: Choices, voice: HTMLSelectElement) {
  const languages = choices.languages.map((code) => [code, languageName(code)] as const);
  return {
    name: line(),
    description: line(),
    system_prompt: h('textarea', { rows: 14, spellcheck: 'true', class: 'prompt' }),
    first_message_mode: h('select', {}, ...options(MODES, 'fixed')),
    first_message: h('textarea', { rows: 2 }),
    first_message_prompt: h('textarea', { rows: 2 }),
    speaking_language: h('select', {}, ...options(languages, 'en')),
    voice_id: voice,
    interruptible: h('input', { type: 'checkbox' }),
    eagerness: h('select', {}, ...options(EAGERNESS, 'balanced')),
  } satisfies Record<DraftField, Control>;
}
export type AgentControls = ReturnType<typeof createAgentControls>;

function line(): HTMLInputElement {
  return h('input', { type: 'text', autocomplete: 'off' });
}
