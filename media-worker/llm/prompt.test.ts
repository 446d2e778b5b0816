import { expect, test } from 'vitest';
import { heardMessage, type PromptParts, systemMessage } from './prompt.ts';

const PARTS: PromptParts = {
  systemPrompt: 'You are Ava.',
  knowledge: '',
  language: 'de',
  hasWorldContext: true,
  timeZone: 'Europe/Berlin',
};
const NOON_UTC = Date.UTC(2026, 0, 5, 12, 0);

test('the message holds the prompt first, the language, and the time in the zone of the session', () => {
  const { content } = systemMessage(PARTS, NOON_UTC);

  expect(content.startsWith('You are Ava.')).toBe(true);
  expect(content).toContain('Speak German.');
  expect(content).toContain('Monday');
  expect(content).toContain('13:00 (Europe/Berlin)');
});

test('the clock goes on from turn to turn', () => {
  expect(systemMessage(PARTS, NOON_UTC + 60_000).content).toContain('13:01');
});

test('without world context neither date nor time is told', () => {
  const { content } = systemMessage({ ...PARTS, hasWorldContext: false }, NOON_UTC);

  expect(content).not.toMatch(/Monday|2026|13:00|Berlin/);
});

test('knowledge is there when there is some', () => {
  expect(systemMessage(PARTS, NOON_UTC).content).not.toContain('Facts');
  expect(systemMessage({ ...PARTS, knowledge: 'We sell hats.' }, NOON_UTC).content).toContain(
    'We sell hats.',
  );
});

test('a reply that was cut off is remembered up to the last heard word, marked; an unheard one not at all', () => {
  expect(heardMessage('The door is', true)).toEqual({ role: 'assistant', content: 'The door is …' });
  expect(heardMessage('The door is open.', false)).toEqual({
    role: 'assistant',
    content: 'The door is open.',
  });
  expect(heardMessage('  ', true)).toBeNull();
});
