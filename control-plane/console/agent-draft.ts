import type { Agent, AgentConfig, Eagerness, FirstMessageMode } from './api-types.ts';

/** What the editor edits, flat. */
export interface AgentDraft {
  readonly name: string;
  readonly description: string;
  readonly system_prompt: string;
  readonly first_message_mode: FirstMessageMode;
  readonly first_message: string;
  readonly first_message_prompt: string;
  readonly speaking_language: string;
  readonly voice_id: string;
  readonly interruptible: boolean;
  readonly eagerness: Eagerness;
}
export type DraftField = keyof AgentDraft;

/** Where each field lives: null is the agent itself, else a section of its configuration. */
const SECTION_OF: Readonly<Record<DraftField, 'prompt' | 'voice' | 'conversation' | null>> = {
  name: null,
  description: null,
  system_prompt: 'prompt',
  first_message_mode: 'prompt',
  first_message: 'prompt',
  first_message_prompt: 'prompt',
  speaking_language: 'voice',
  voice_id: 'voice',
  interruptible: 'conversation',
  eagerness: 'conversation',
};
const FIELDS = Object.keys(SECTION_OF) as DraftField[];

export function toDraft(agent: Agent, { prompt, voice, conversation }: AgentConfig): AgentDraft {
  return {
    name: agent.name,
    description: agent.description,
    system_prompt: prompt.system_prompt,
    first_message_mode: prompt.first_message_mode,
    first_message: prompt.first_message,
    first_message_prompt: prompt.first_message_prompt,
    speaking_language: voice.speaking_language,
    voice_id: voice.voice_id,
    interruptible: conversation.interruptible,
    eagerness: conversation.eagerness,
  };
}

export interface DraftPatches {
  readonly agent: Readonly<Record<string, unknown>> | null;
  readonly config: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null;
}

/** The smallest patches that lead from `saved` to `edited`; null where nothing changed. */
export function patchesBetween(saved: AgentDraft, edited: AgentDraft): DraftPatches {
  const agent: Record<string, unknown> = {};
  const config: Record<string, Record<string, unknown>> = {};
  for (const field of FIELDS) {
    if (saved[field] === edited[field]) continue;
    const section = SECTION_OF[field];
    if (section === null) agent[field] = edited[field];
    else config[section] = { ...config[section], [field]: edited[field] };
  }
  return {
    agent: Object.keys(agent).length > 0 ? agent : null,
    config: Object.keys(config).length > 0 ? config : null,
  };
}

/** The field that a 422 entry is about; null for one that the form doesn't show. */
export function fieldOfIssue(loc: readonly (string | number)[]): DraftField | null {
  const path = loc.filter((part, at) => !(at === 0 && part === 'body') && part !== 'config');
  const last = path.at(-1);
  const field = FIELDS.find((name) => name === last);
  if (field === undefined) return null;
  const section = SECTION_OF[field];
  return path.length === (section === null ? 1 : 2) && (section === null || path[0] === section)
    ? field
    : null;
}
