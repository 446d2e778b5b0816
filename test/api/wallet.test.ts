import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';
import { startControlPlane } from '../fakes/control-plane.ts';
import { createFaultyStore } from '../fakes/faulty-store.ts';

let plane: Awaited<ReturnType<typeof startControlPlane>>;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

async function publishedAgent(apiKey: string): Promise<string> {
  const created = await plane.call('POST', '/v1/agent/agents', { name: 'Front desk' }, apiKey);
  expect(created.status).toBe(201);
  const { agent_id } = created.body;
  expect((await plane.call('POST', `/v1/agent/agents/${agent_id}/publish`, undefined, apiKey)).status).toBe(
    200,
  );
  return agent_id;
}

test('the API credit of self has the documented fields, the credit as a decimal string', async () => {
  const { status, body } = await plane.call('GET', '/wallet/self/api-credit');

  expect(status).toBe(200);
  expect(body).toEqual({
    _id: expect.any(String),
    user_id: plane.account.userId,
    credit: '100.00',
    cumulative_top_up: '100.00',
    created_at: timestamp,
    updated_at: timestamp,
    has_phone_sha256: false,
    has_free_credit: null,
  });
});

test('the package of self has the documented fields, with an _id', async () => {
  const { status, body } = await plane.call('GET', '/wallet/self/package');

  expect(status).toBe(200);
  expect(body).toEqual({
    _id: expect.any(String),
    user_id: plane.account.userId,
    type: 'free',
    total: 0,
    balance: 0,
    created_at: timestamp,
    updated_at: timestamp,
    finished_at: timestamp,
    processor_subscription_id: null,
    processor_price_id: null,
    billing_period: null,
    current_period_end: null,
    cancel_at_period_end: null,
    cancel_at: null,
    scheduled_change: null,
    last_synced_at: null,
    subscription_currency: null,
    subscription_status: null,
    extra_balance: 0,
    has_used_trial: false,
  });
});

test('has_free_credit is answered when asked for', async () => {
  const { body } = await plane.call('GET', '/wallet/self/api-credit?check_free_credit=true');

  expect(body.has_free_credit).toBe(false);
});

test('the own user id is self; another one is 404 like a missing one', async () => {
  const other = await plane.newAccount();
  const own = await plane.call('GET', `/wallet/${plane.account.userId}/api-credit`);
  const foreign = await plane.call('GET', `/wallet/${other.userId}/api-credit`);
  const missing = await plane.call('GET', '/wallet/nobody/api-credit');

  expect(own.status).toBe(200);
  expect(foreign.status).toBe(404);
  expect(foreign.body).toEqual(missing.body);
  expect((await plane.call('GET', `/wallet/${other.userId}/package`)).status).toBe(404);
});

test('team_id shows the credit that pays for the own workspace; another one is 404', async () => {
  const { service } = plane.app.accounts;
  const { userId, workspaceId } = plane.account;
  const member = await service.createUser('Bob');
  await service.addMember(workspaceId, member._id);
  const { apiKey } = await service.createKey({
    workspaceId,
    userId: member._id,
    name: '',
    expiresAtMs: null,
  });
  const other = await plane.newAccount();

  const own = await plane.call('GET', '/wallet/self/api-credit', undefined, apiKey);
  const team = await plane.call('GET', `/wallet/self/api-credit?team_id=${workspaceId}`, undefined, apiKey);
  const foreign = await plane.call('GET', `/wallet/self/api-credit?team_id=${other.workspaceId}`);

  expect(own.body).toMatchObject({ user_id: member._id, credit: '0.00' });
  expect(team.body).toMatchObject({ user_id: userId, credit: '100.00' });
  expect(foreign.status).toBe(404);
});

test('without a key the wallet is a bare 401, with a bad one a JSON 401', async () => {
  const bare = await fetch(`${plane.baseUrl}/wallet/self/package`);
  const bad = await plane.call('GET', '/wallet/self/package', undefined, 'pk_bad');

  expect(bare.status).toBe(401);
  expect(await bare.text()).toBe('');
  expect(bad.body).toEqual({ status: 401, message: 'Invalid token', reason: null });
});

test('a session that no worker takes costs nothing', async () => {
  const { apiKey } = await plane.newAccount();
  const agent_id = await publishedAgent(apiKey);

  const created = await plane.call('POST', '/v1/agent/sessions', { agent_id }, apiKey);

  expect(created.body).toEqual({ status: 502, message: 'Agent gateway is unreachable', reason: null });
  expect((await plane.call('GET', '/wallet/self/api-credit', undefined, apiKey)).body.credit).toBe('100.00');
});

test('without credit for a minute a session is 402 and takes nothing, 50 at once as well', async () => {
  const { apiKey } = await plane.newAccount(59_999);
  const agent_id = await publishedAgent(apiKey);

  const replies = await Promise.all(
    Array.from({ length: 50 }, () => plane.call('POST', '/v1/agent/sessions', { agent_id }, apiKey)),
  );

  expect(new Set(replies.map((reply) => JSON.stringify(reply.body)))).toEqual(
    new Set([JSON.stringify({ status: 402, message: 'Out of API credit', reason: null })]),
  );
  expect((await plane.call('GET', '/wallet/self/api-credit', undefined, apiKey)).body.credit).toBe(
    '0.059999',
  );
});

test('while the store does not answer everything that needs it is 503, and works again afterwards', async () => {
  let isAway = false;
  const store = createFaultyStore(openEmbeddedStore({ file: ':memory:' }), () => (isAway ? 'before' : null));
  const own = await startControlPlane({ store });
  onTestFinished(() => own.stop());
  const { apiKey } = await own.newAccount();

  isAway = true;
  const away = await own.call('GET', '/wallet/self/api-credit', undefined, apiKey);
  isAway = false;
  const back = await own.call('GET', '/wallet/self/api-credit', undefined, apiKey);

  expect(away.body).toEqual({ status: 503, message: 'Service temporarily unavailable', reason: null });
  expect(away.headers.get('retry-after')).toBe('1');
  expect(back.status).toBe(200);
});
