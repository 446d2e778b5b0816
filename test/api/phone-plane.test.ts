import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createSessionLinks } from '../../control-plane/session-links.ts';
import { startControlPlane } from '../fakes/control-plane.ts';

let plane: Awaited<ReturnType<typeof startControlPlane>>;
let agent_id: string;
let phone_number_id: string;

beforeAll(async () => {
  plane = await startControlPlane({ env: { PHONE_CARRIER: 'test' } });
  agent_id = (await plane.call('POST', '/v1/agent/agents', { name: 'Desk' })).body.agent_id;
  await plane.call('POST', `/v1/agent/agents/${agent_id}/publish`);
  const found = await plane.call('GET', '/v1/agent/available-phone-numbers');
  const { phone_number } = found.body.available_phone_numbers[0];
  const bought = await plane.call('POST', '/v1/agent/phone-numbers', { phone_number });
  expect(bought.status).toBe(201);
  phone_number_id = bought.body.phone_number_id;
});
afterAll(() => plane.stop());

async function called(to_number: string): Promise<string> {
  const { status, body } = await plane.call('POST', '/v1/agent/phone-calls', {
    agent_id,
    phone_number_id,
    to_number,
  });
  expect(status).toBe(201);
  return body.session_id;
}

const read = async (sessionId: string) => (await plane.call('GET', `/v1/agent/sessions/${sessionId}`)).body;
const credit = async () => Number((await plane.call('GET', '/wallet/self/api-credit')).body.credit);

test('a call through the test carrier ends as its number says and costs nothing unanswered', async () => {
  const before = await credit();
  const sessionId = await called('+14165550101');
  await expect.poll(() => read(sessionId)).toMatchObject({ status: 'completed', dial_status: 'busy' });
  await expect.poll(credit).toBe(before);
});

test('ending a ringing call hangs it up: it is cancelled and nobody answered', async () => {
  const before = await credit();
  const sessionId = await called('+14165550102');
  expect((await plane.call('POST', `/v1/agent/sessions/${sessionId}/end`)).status).toBe(204);
  expect(await read(sessionId)).toMatchObject({
    status: 'failed',
    end_reason: 'cancelled',
    dial_status: 'no_answer',
    answered_by: null,
  });
  expect(await credit()).toBe(before);
});

test('ending an answered call hangs it up', async () => {
  const sessionId = await called('+14165550199');
  await expect.poll(() => read(sessionId)).toMatchObject({ status: 'active', dial_status: 'answered' });
  expect((await plane.call('POST', `/v1/agent/sessions/${sessionId}/end`)).status).toBe(204);
  expect(await read(sessionId)).toMatchObject({ status: 'completed', end_reason: 'user_hangup' });
});

test('a session filter finds calls by direction and by the person’s number', async () => {
  const sessionId = await called('+14165550103');
  const { body } = await plane.call(
    'GET',
    '/v1/agent/sessions?direction=outbound&caller_number=%2B14165550103',
  );
  expect(body.sessions.map((session: { session_id: string }) => session.session_id)).toEqual([sessionId]);
  const inbound = await plane.call('GET', '/v1/agent/sessions?direction=inbound');
  expect(inbound.body.sessions).toEqual([]);
});

test('unless the settings name a carrier, buying is 503', async () => {
  const bare = await startControlPlane();
  onTestFinished(() => bare.stop());
  const reply = await bare.call('POST', '/v1/agent/phone-numbers', { phone_number: '+14155550100' });
  expect(reply.status).toBe(503);
});

test('a session counts as held while the carrier holds its call', async () => {
  const links = createSessionLinks({
    link: { linkedWorkers: () => [], end: async () => false },
    phones: { hangUp: async (id) => id === 'call', heldSessions: () => ['call'] },
    placement: {
      place: () => Promise.reject(new Error('nothing is placed')),
      release: async () => {},
    },
    coordination: { liveWorkers: async () => [], locate: async () => null },
  });
  expect(await links.heldSessions()).toEqual(new Set(['call']));
  expect(await links.end('call', 'user_hangup')).toBe(true);
  expect(await links.end('web', 'user_hangup')).toBe(false);
});
