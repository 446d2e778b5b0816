import { expect, test } from 'vitest';
import { fieldOfIssue, patchesBetween, toDraft } from '../../control-plane/console/agent-draft.ts';
import { noteOf, readAgentEvent } from '../../control-plane/console/call/agent-event.ts';
import { announcedEnding, disconnectEnding } from '../../control-plane/console/call/ending.ts';
import { LiveTranscript } from '../../control-plane/console/call/transcript.ts';
import { isSendable, keyOfLink } from '../../control-plane/console/credentials.ts';
import { fieldMessages } from '../../control-plane/console/field-messages.ts';
import { clockTime, endReason } from '../../control-plane/console/format.ts';
import { parseHash } from '../../control-plane/console/route.ts';
import { agentFromTemplate, TEMPLATES } from '../../control-plane/console/templates.ts';
import { SYSTEM_PROMPT_MAX } from '../../shared/agent-config.ts';
import { BUILTIN_VOICES } from '../../shared/builtin-voices.ts';

const agent = {
  agent_id: 'a',
  name: 'Front desk',
  description: '',
  publication_state: 'draft',
  updated_at: '2026-01-01T00:00:00.000Z',
} as const;
const config = {
  config_hash: 'sha256:1',
  prompt: {
    system_prompt: 'You are Nora.',
    first_message_mode: 'fixed',
    first_message: 'Hello',
    first_message_prompt: 'Greet.',
  },
  voice: { voice_id: 'v', speaking_language: 'en' },
  conversation: { interruptible: true, eagerness: 'balanced' },
} as const;

test('what the caller says is replaced whole with each update, what the agent says grows', () => {
  const transcript = new LiveTranscript();
  const user = { segmentId: '1', speaker: 'user' } as const;
  const agentPiece = { segmentId: '1', speaker: 'agent' } as const;

  transcript.add({ ...user, text: 'what are', isFinal: false });
  transcript.add({ ...user, text: 'what are your hours', isFinal: true });
  transcript.add({ ...agentPiece, text: 'We are ', isFinal: false });
  transcript.add({ ...agentPiece, text: 'open.', isFinal: false });
  transcript.add({ ...agentPiece, text: '', isFinal: true });

  expect(transcript.lines).toEqual([
    { id: 'user:1', speaker: 'user', text: 'what are your hours', isFinal: true },
    { id: 'agent:1', speaker: 'agent', text: 'We are open.', isFinal: true },
  ]);
});

test('a late partial text does not undo a final one, and an empty one makes no line', () => {
  const transcript = new LiveTranscript();

  transcript.add({ segmentId: '1', speaker: 'user', text: 'yes please', isFinal: true });

  expect(transcript.add({ segmentId: '1', speaker: 'user', text: 'yes', isFinal: false })).toBeNull();
  expect(transcript.add({ segmentId: '2', speaker: 'agent', text: '', isFinal: true })).toBeNull();
  expect(transcript.lines.map((line) => line.text)).toEqual(['yes please']);
});

test('only what was edited is sent', () => {
  const saved = toDraft(agent, config);

  expect(patchesBetween(saved, saved)).toEqual({ agent: null, config: null });
  expect(patchesBetween(saved, { ...saved, name: 'Desk', voice_id: 'w', interruptible: false })).toEqual({
    agent: { name: 'Desk' },
    config: { voice: { voice_id: 'w' }, conversation: { interruptible: false } },
  });
});

test('a refused field is named where it stands, from a patch and from a creation', () => {
  expect(fieldOfIssue(['body', 'prompt', 'system_prompt'])).toBe('system_prompt');
  expect(fieldOfIssue(['body', 'config', 'prompt', 'first_message'])).toBe('first_message');
  expect(fieldOfIssue(['body', 'name'])).toBe('name');
  expect(fieldOfIssue(['body', 'analysis', 'criteria', 0, 'name'])).toBeNull();
  expect(fieldOfIssue(['body', 'webhooks'])).toBeNull();
});

test('a refusal is said in plain words; what the form does not show is named with its place', () => {
  const { byField, others } = fieldMessages([
    { type: 'x', loc: ['body', 'name'], msg: 'String should have at least 1 character' },
    { type: 'x', loc: ['body', 'prompt', 'first_message'], msg: 'Value error, unknown system variable x' },
    { type: 'x', loc: ['body', 'llm', 'model'], msg: 'Value error, unknown model' },
  ]);

  expect([...byField]).toEqual([
    ['name', 'This should not be empty.'],
    ['first_message', 'Unknown system variable x.'],
  ]);
  expect(others).toEqual(['llm › model: Unknown model.']);
});

test('every template fits the limits, names a voice that exists and lets the agent hang up', () => {
  const choices = {
    languages: ['en'],
    system_prompt_max: SYSTEM_PROMPT_MAX,
    voices: BUILTIN_VOICES.map(({ id, name, language }) => ({ id, name, language })),
  };

  expect(TEMPLATES.map((template) => template.id)).toEqual([
    'front-desk',
    'restaurant-bookings',
    'support-line',
  ]);
  for (const template of TEMPLATES) {
    expect([...template.systemPrompt].length).toBeLessThanOrEqual(SYSTEM_PROMPT_MAX);
    expect(agentFromTemplate(template, 'Name', choices)).toMatchObject({
      name: 'Name',
      config: {
        prompt: { first_message_mode: 'fixed', first_message: template.firstMessage },
        voice: { voice_id: BUILTIN_VOICES.find((voice) => voice.name === template.voice)?.id },
        tools: { system_tools: { hang_up_call: true } },
      },
    });
  }
});

test('the key of a sign-in link is taken only if a header can carry it', () => {
  expect(keyOfLink('#key=pk_1')).toBe('pk_1');
  expect(keyOfLink('#key=pk%0d%0a1')).toBeNull();
  expect(keyOfLink('#key=%zz')).toBeNull();
  expect(keyOfLink('#/agents')).toBeNull();
  expect(isSendable('ключ')).toBe(false);
});

test('an address becomes a path and a query, whatever is in it', () => {
  expect(parseHash('#/agents/a%2Fb/talk?start').path).toEqual(['agents', 'a/b', 'talk']);
  expect(parseHash('#/agents/1/talk?start').query.has('start')).toBe(true);
  expect(parseHash('').path).toEqual([]);
  expect(parseHash('#/%zz').path).toEqual(['%zz']);
});

test('every way a call can end has words', () => {
  expect(announcedEnding('agent_hangup')).toEqual({ message: 'The agent hung up.', isOrderly: true });
  expect(announcedEnding('something_new')).toBeNull();
  expect(disconnectEnding('DUPLICATE_IDENTITY').isOrderly).toBe(false);
  expect(disconnectEnding(undefined)).toEqual(disconnectEnding('SOMETHING_NEW'));
  expect(endReason('llm_endpoint_failure')).toBe('The language model did not answer');
  expect(endReason('something_new')).toBe('something new');
});

test('events of the agent are read with care', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  expect(readAgentEvent(bytes('{"type":"session.ended","reason":"agent_hangup"}'))).toEqual({
    type: 'session.ended',
    reason: 'agent_hangup',
  });
  for (const text of ['', 'null', '[]', '{"type":1}', '{']) expect(readAgentEvent(bytes(text))).toBeNull();
  expect(noteOf({ type: 'tool.started', toolName: 'prices' })).toBe('Using prices…');
  expect(noteOf({ type: 'something.new' })).toBeNull();
});

test('durations read like a clock', () => {
  expect([0, 75.9, 3675].map(clockTime)).toEqual(['0:00', '1:15', '1:01:15']);
});
