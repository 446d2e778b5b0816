import { expect } from 'vitest';
import type { SessionDetail } from './parley.ts';
import { wordErrors } from './word-errors.ts';

/** An agent that can be asked, and a caller who asks it: the conversation every client holds. */
export const HOTEL_GREETING = 'Hello and welcome to the hotel. What can I do for you today?';
export const HOTEL_CONFIG = {
  prompt: {
    system_prompt: [
      'You are the front desk of a hotel.',
      'Breakfast is served from seven to ten in the morning.',
      'The swimming pool is open until nine in the evening.',
      'Parking costs twelve dollars a night.',
    ].join(' '),
    first_message_mode: 'fixed',
    first_message: HOTEL_GREETING,
  },
};
export const HOTEL_QUESTIONS = [
  'Good morning, I would like to know when breakfast begins tomorrow.',
  'Thank you very much. And how much does parking cost for one night?',
  'Very good. And when does the swimming pool close in the evening?',
];
const ANSWERS = [/seven/i, /twelve/i, /nine/i];

/** What each side's record of the call must say. `heardByClient` is the agent's words recognised from the client's recording. */
export function expectHotelConversation(
  detail: SessionDetail,
  agentTranscripts: readonly string[],
  heardByClient: string,
): void {
  const said = detail.items.filter((item) => item.role === 'user').map((item) => item.content ?? '');
  const answered = detail.items.filter((item) => item.role === 'assistant').map((item) => item.content ?? '');
  const caller = wordErrors(HOTEL_QUESTIONS.join(' '), said.join(' '));
  const agent = wordErrors(answered.join(' '), heardByClient);
  console.log(
    `caller: ${caller.errors} of ${caller.words} words wrong; agent: ${agent.errors} of ${agent.words} wrong in the client's recording\n  ${said.join('\n  ')}\n  heard: ${heardByClient}`,
  );

  expect(detail.status).toBe('completed');
  expect(caller.words).toBeGreaterThanOrEqual(30);
  expect(caller.errors / caller.words).toBeLessThanOrEqual(0.15);
  expect(answered[0]).toBe(HOTEL_GREETING);
  expect(answered).toHaveLength(1 + HOTEL_QUESTIONS.length);
  for (const [i, pattern] of ANSWERS.entries()) expect(answered[i + 1]).toMatch(pattern);
  expect(agentTranscripts).toEqual(answered);
  expect(agent.errors / agent.words).toBeLessThanOrEqual(0.1);
}
