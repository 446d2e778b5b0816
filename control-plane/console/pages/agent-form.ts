import type { AgentDraft, DraftField } from '../agent-draft.ts';
import type { Choices, Eagerness, FirstMessageMode } from '../api-types.ts';
import { h } from '../dom.ts';
import { type Field, field } from '../field.ts';
import { type AgentControls, createAgentControls } from './agent-controls.ts';
import { createVoiceChoice } from './voice-choice.ts';

/** The fields of an agent. */
export interface AgentForm {
  readonly element: HTMLElement;
  readonly read: () => AgentDraft;
  readonly write: (draft: AgentDraft) => void;
  /** Shows these messages and none else, and moves the focus to the first. */
  readonly showErrors: (messages: ReadonlyMap<DraftField, string>) => void;
}

export function createAgentForm(choices: Choices, onChange: () => void): AgentForm {
  const voice = createVoiceChoice(choices.voices);
  const controls = createAgentControls(choices, voice.select);
  const count = h('span', { class: 'count' });
  const fields = createFields(controls, count);

  function refresh(): void {
    voice.showFor(controls.speaking_language.value);
    const used = [...controls.system_prompt.value].length;
    count.textContent = `${used.toLocaleString()} of ${choices.system_prompt_max.toLocaleString()} characters`;
    count.classList.toggle('over', used > choices.system_prompt_max);
    const mode = controls.first_message_mode.value;
    fields.first_message.element.hidden = mode !== 'fixed';
    fields.first_message_prompt.element.hidden = mode !== 'prompt';
  }

  function write(draft: AgentDraft): void {
    for (const [key, control] of Object.entries(controls)) {
      const value = draft[key as DraftField];
      if (control instanceof HTMLInputElement && typeof value === 'boolean') control.checked = value;
      else if (key !== 'voice_id') control.value = String(value);
    }
    voice.set(draft.voice_id, draft.speaking_language);
    refresh();
  }

  function showErrors(messages: ReadonlyMap<DraftField, string>): void {
    for (const key of Object.keys(fields) as DraftField[]) fields[key].setError(messages.get(key) ?? null);
    const [first] = messages.keys();
    if (first) controls[first].focus();
  }

  const element = layOut(fields, voice.otherField);
  element.addEventListener('input', () => {
    refresh();
    onChange();
  });
  return { element, read: () => readDraft(controls, voice.value()), write, showErrors };
}

function createFields(controls: AgentControls, count: HTMLElement): Record<DraftField, Field> {
  const promptHelp = h('span', {}, 'Who the agent is, how it speaks, and what it knows.');
  return {
    name: field('Name', controls.name),
    description: field('Description', controls.description, 'For your team; callers never hear it.'),
    system_prompt: field(
      'Prompt',
      controls.system_prompt,
      h('span', { class: 'help-row' }, promptHelp, count),
    ),
    first_message_mode: field('When the call begins', controls.first_message_mode),
    first_message: field('First message', controls.first_message),
    first_message_prompt: field('Instruction for the first message', controls.first_message_prompt),
    speaking_language: field('Language', controls.speaking_language),
    voice_id: field('Voice', controls.voice_id),
    interruptible: field(
      'Callers can interrupt',
      controls.interruptible,
      'The agent stops speaking when the caller starts.',
    ),
    eagerness: field(
      'Turn taking',
      controls.eagerness,
      'How soon a pause counts as the end of what the caller says.',
    ),
  };
}

function readDraft(controls: AgentControls, voiceId: string): AgentDraft {
  return {
    name: controls.name.value.trim(),
    description: controls.description.value.trim(),
    system_prompt: controls.system_prompt.value,
    first_message_mode: controls.first_message_mode.value as FirstMessageMode,
    first_message: controls.first_message.value,
    first_message_prompt: controls.first_message_prompt.value,
    speaking_language: controls.speaking_language.value,
    voice_id: voiceId,
    interruptible: controls.interruptible.checked,
    eagerness: controls.eagerness.value as Eagerness,
  };
}

function layOut(fields: Record<DraftField, Field>, otherVoice: Field): HTMLElement {
  return h(
    'div',
    { class: 'form-sections' },
    group('About', fields.name, fields.description),
    group('What it knows and how it behaves', fields.system_prompt),
    group('First words', fields.first_message_mode, fields.first_message, fields.first_message_prompt),
    group('Voice', fields.speaking_language, fields.voice_id, otherVoice),
    group('Conversation', fields.eagerness, fields.interruptible),
  );
}

function group(title: string, ...fields: readonly Field[]): HTMLElement {
  return h('section', { class: 'group' }, h('h2', {}, title), ...fields.map(({ element }) => element));
}
