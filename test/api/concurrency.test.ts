import { expect, onTestFinished, test } from 'vitest';
import type { LedgerRow, WalletDoc } from '../../control-plane/wallet/wallet-store.ts';
import { startControlPlane } from '../fakes/control-plane.ts';
import { type Json, setUpAgentApi } from './agents-setup.ts';
import { MINUTE_MICROS, SESSIONS, setUpSessionApi } from './sessions-setup.ts';

const AGENTS = '/v1/agent/agents';
const NUMBERS = '/v1/agent/phone-numbers';
const DAY_MICROS = 40_000;

const count = (statuses: readonly number[], wanted: number) =>
  statuses.filter((status) => status === wanted).length;

test('of 50 sessions created at once on credit for 10 exactly 10 succeed, and the ledger adds up', async () => {
  const { ask, store, publishedAgent } = await setUpSessionApi({ creditMicros: 10 * MINUTE_MICROS });
  const agent_id = await publishedAgent();

  const replies = await Promise.all(Array.from({ length: 50 }, () => ask('POST', SESSIONS, { agent_id })));

  const statuses = replies.map(({ status }) => status);
  expect([count(statuses, 201), count(statuses, 402)]).toEqual([10, 40]);
  const wallet = await store.collection<WalletDoc>('wallets').findOne({ _id: 'payer' });
  const rows = await store.collection<LedgerRow>('wallet_ledger').find({ userId: 'payer' });
  expect(wallet).toMatchObject({ balanceMicros: 0, pendingCount: 0, pending: {} });
  expect(rows.reduce((sum, { amountMicros }) => sum + amountMicros, 0)).toBe(0);
  expect(rows.filter(({ kind }) => kind === 'charge').map(({ amountMicros }) => amountMicros)).toEqual(
    Array(10).fill(-MINUTE_MICROS),
  );
  expect((await ask('GET', `${SESSIONS}?include_total=true`)).body['total']).toBe(10);
});

test('of 50 purchases of the same number at once one succeeds, and one day is charged', async () => {
  const plane = await startControlPlane({ env: { PHONE_CARRIER: 'test' } });
  onTestFinished(() => plane.stop());
  const other = await plane.newAccount();
  const { body } = await plane.call('GET', '/v1/agent/available-phone-numbers');
  const { phone_number } = body.available_phone_numbers[0];
  const keys = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? plane.account : other).apiKey);

  const replies = await Promise.all(keys.map((key) => plane.call('POST', NUMBERS, { phone_number }, key)));

  const statuses = replies.map(({ status }) => status);
  expect([count(statuses, 201), count(statuses, 409)]).toEqual([1, 49]);
  const refusal = replies.find(({ status }) => status === 409)?.body;
  expect(refusal).toEqual({ status: 409, message: 'This number is already on the platform', reason: null });
  const wallets = await plane.store.collection<WalletDoc>('wallets').find({});
  const spent = wallets.map((w) => w.cumulativeTopUpMicros - w.balanceMicros).sort((a, b) => a - b);
  expect(spent).toEqual([0, DAY_MICROS]);
});

test('of 40 parallel changes of a draft none is lost', async () => {
  const { ask, createAgent } = await setUpAgentApi();
  const config = `${AGENTS}/${await createAgent()}/config`;
  const fields: [string, string, unknown][] = [
    ['prompt', 'system_prompt', 'p'],
    ['prompt', 'first_message', 'm'],
    ['prompt', 'first_message_mode', 'fixed'],
    ['prompt', 'first_message_prompt', 'q'],
    ['voice', 'speaking_language', 'nl'],
    ['voice', 'speed', 1.5],
    ['voice', 'expressive', true],
    ['asr', 'multilingual', true],
    ['asr', 'strict_language', true],
    ['conversation', 'eagerness', 'eager'],
    ['conversation', 'response_wait_ms', 300],
    ['conversation', 'interruptible', false],
    ['conversation', 'record_audio', false],
    ['conversation', 'speculative_response', false],
    ['conversation', 'hangup_after_seconds', 11],
    ['conversation', 'max_duration_seconds', 61],
    ['tools', 'enabled', false],
    ['knowledge_base', 'enabled', true],
    ['guardrails', 'focus', true],
    ['guardrails', 'manipulation', true],
  ];
  const patches = fields.map(([section, field, value]) => ({ [section]: { [field]: value } }));

  const replies = await Promise.all([...patches, ...patches].map((patch) => ask('PATCH', config, patch)));

  expect(
    count(
      replies.map(({ status }) => status),
      200,
    ),
  ).toBe(40);
  const { body } = await ask('GET', config);
  expect(fields.map(([section, field]) => (body[section] as Json)[field])).toEqual(
    fields.map(([, , value]) => value),
  );
});

test('parallel publishes give consecutive version numbers, each used once', async () => {
  const { ask, createAgent } = await setUpAgentApi();
  const agent = `${AGENTS}/${await createAgent()}`;
  const changeAndPublish = async (round: number) => {
    await ask('PATCH', `${agent}/config`, { prompt: { system_prompt: `round ${round}` } });
    return ask('POST', `${agent}/publish`);
  };

  const replies = await Promise.all(Array.from({ length: 20 }, (_, round) => changeAndPublish(round)));

  expect(
    count(
      replies.map(({ status }) => status),
      200,
    ),
  ).toBe(20);
  const listed = (await ask('GET', `${agent}/versions?page_size=100`)).body['versions'] as Json[];
  const numbers = listed.map((version) => version['version_number']);
  expect(numbers).toEqual(Array.from(numbers, (_, i) => numbers.length - i));
  expect(numbers.length).toBeGreaterThan(1);
  const answered = new Map(replies.map(({ body }) => [body['version_number'], body['config_hash']]));
  const hashes = new Map(listed.map((version) => [version['version_number'], version['config_hash']]));
  for (const [number, hash] of answered) expect(hashes.get(number)).toBe(hash);
});

test('20 publishes of one unchanged draft make one version', async () => {
  const { ask, createAgent } = await setUpAgentApi();
  const agent = `${AGENTS}/${await createAgent()}`;

  const replies = await Promise.all(Array.from({ length: 20 }, () => ask('POST', `${agent}/publish`)));

  expect(new Set(replies.map(({ status, body }) => `${status} ${body['version_number']}`))).toEqual(
    new Set(['200 1']),
  );
  expect((await ask('GET', `${agent}/versions`)).body['versions']).toHaveLength(1);
});
