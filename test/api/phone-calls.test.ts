import { describe, expect, test } from 'vitest';
import { CarrierRefused, CarrierUnreachable } from '../../control-plane/phone/carrier.ts';
import type { Json } from './agents-setup.ts';
import {
  CALLS,
  NUMBER,
  NUMBERS,
  PERSON,
  PHONE_MINUTE_MICROS,
  type PhoneApi,
  setUpPhoneApi,
} from './phone-setup.ts';
import { SESSIONS } from './sessions-setup.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

async function importedNumber(api: PhoneApi, trunk: Json = {}): Promise<string> {
  const { status, body } = await api.askPhones('POST', NUMBERS, {
    provider: 'sip',
    phone_number: '+493012345678',
    inbound_allowed_addresses: ['203.0.113.7'],
    ...trunk,
  });
  expect(status).toBe(201);
  return String(body['phone_number_id']);
}

async function sessionCount(api: PhoneApi): Promise<unknown> {
  return (await api.ask('GET', `${SESSIONS}?include_total=true`)).body['total'];
}

async function placed(api: PhoneApi, body: Json): Promise<string> {
  const reply = await api.call(body);
  expect(reply.status).toBe(201);
  return String(reply.body['session_id']);
}

describe('calling a person', () => {
  test('answers 201 with the session, queued, and dials', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();

    const reply = await api.call(body);

    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      session_id: expect.stringMatching(/^ses_[0-9a-hjkmnp-tv-z]{26}$/),
      status: 'queued',
    });
    expect(api.carrier.dialled).toEqual([
      {
        callId: reply.body['session_id'],
        to: PERSON,
        from: NUMBER,
        ringTimeoutS: 60,
        maxDurationS: expect.any(Number),
        provider: 'twilio',
        trunk: null,
        headers: {},
      },
    ]);
  });

  test('the session is outbound; caller_number is the person, dialed_number is ours', async () => {
    const api = await setUpPhoneApi();
    const metadata = { order: 7 };
    const sessionId = await placed(api, await api.callable({ metadata }));
    expect(await api.read(sessionId)).toMatchObject({
      status: 'pending',
      source: 'phone',
      direction: 'outbound',
      dial_status: null,
      answered_by: null,
      caller_number: PERSON,
      dialed_number: NUMBER,
      metadata,
      started_at: null,
    });
  });

  test('charges a phone minute up front', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    const before = Number(await api.balance());
    await placed(api, body);
    expect(await api.balance()).toBe(before - PHONE_MINUTE_MICROS);
  });

  test('on an own trunk it goes to the trunk’s host, with credentials and headers', async () => {
    const api = await setUpPhoneApi();
    const phone_number_id = await importedNumber(api, {
      termination_uri: 'sip.example.com',
      termination_transport: 'tls',
      termination_auth_username: 'out',
      termination_auth_password: 'out-secret',
      termination_headers: { 'X-A': '1', 'X-B': '2' },
    });
    const agent_id = await api.publishedAgent();
    await placed(api, {
      agent_id,
      phone_number_id,
      to_number: '+8613800138000',
      sip_headers: { 'X-B': '3' },
    });
    expect(api.carrier.dialled).toMatchObject([
      {
        provider: 'sip',
        from: '+493012345678',
        to: '+8613800138000',
        trunk: { host: 'sip.example.com', transport: 'tls', username: 'out', password: 'out-secret' },
        headers: { 'X-A': '1', 'X-B': '3' },
      },
    ]);
  });

  test('a Japanese trunk zero is dropped', async () => {
    const api = await setUpPhoneApi();
    const sessionId = await placed(api, await api.callable({ to_number: '+8109012345678' }));
    expect(api.carrier.dialled[0]?.to).toBe('+819012345678');
    expect((await api.read(sessionId))['caller_number']).toBe('+819012345678');
  });

  test('a body that breaks a rule is a 422 list', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    const { agent_id, phone_number_id, to_number } = body;
    const rules: [string, unknown][] = [
      ['agent_id is required', { phone_number_id, to_number }],
      ['phone_number_id is required', { agent_id, to_number }],
      ['to_number is required', { agent_id, phone_number_id }],
      ['unknown fields are refused', { ...body, end_user_id: 'u' }],
      ['names of variables begin with a letter', { ...body, dynamic_variables: { '1a': 'x' } }],
      ['variables have at most 1,000 characters', { ...body, dynamic_variables: { a: 'x'.repeat(1001) } }],
      ['overrides have known names', { ...body, overrides: { speed: 2 } }],
      ['metadata is an object', { ...body, metadata: [] }],
      ['headers of the protocol can’t be sent', { ...body, sip_headers: { From: 'x' } }],
    ];
    for (const [rule, sent] of rules) {
      const reply = await api.askPhones('POST', CALLS, sent);
      expect.soft(reply.status, rule).toBe(422);
      expect.soft(Array.isArray(reply.body), rule).toBe(true);
    }
    expect(api.carrier.dialled).toEqual([]);
  });

  test('an override that the agent doesn’t allow is 400', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable({ overrides: { first_message: 'Hi' } });
    expect((await api.call(body)).status).toBe(400);
    await api.ask('PATCH', `/v1/agent/agents/${body['agent_id']}`, { overrides_allowed: ['first_message'] });
    expect((await api.call(body)).status).toBe(201);
  });
});

describe('what becomes of the dial', () => {
  test('answered: the session is active and billed from the answer on', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    const before = Number(await api.balance());
    const sessionId = await placed(api, body);
    await api.clock.advance(20_000);

    const answered = await api.answer(sessionId);
    expect(answered).toMatchObject({
      status: 'active',
      dial_status: 'answered',
      answered_by: 'unknown',
      started_at: new Date(api.clock.nowMs()).toISOString(),
    });

    await api.clock.advance(90_000);
    const ended = await api.end(sessionId, 'answered');
    expect(ended).toMatchObject({
      status: 'completed',
      end_reason: 'user_hangup',
      dial_status: 'answered',
      duration_seconds: 90,
    });
    expect(await api.balance()).toBe(before - PHONE_MINUTE_MICROS * 1.5);
  });

  test.each(['busy', 'no_answer', 'failed'] as const)(
    '%s: the session is completed as dial_failed and costs nothing',
    async (outcome) => {
      const api = await setUpPhoneApi();
      const body = await api.callable();
      const before = await api.balance();
      const sessionId = await placed(api, body);

      const ended = await api.end(sessionId, outcome);

      expect(ended).toMatchObject({
        status: 'completed',
        end_reason: 'dial_failed',
        dial_status: outcome,
        answered_by: null,
        started_at: null,
        duration_seconds: null,
      });
      expect(await api.balance()).toBe(before);
    },
  );

  test('news that comes twice changes nothing', async () => {
    const api = await setUpPhoneApi();
    const sessionId = await placed(api, await api.callable());
    await api.end(sessionId, 'busy');
    const balance = await api.balance();
    await api.answer(sessionId);
    await api.end(sessionId, 'no_answer');
    expect(await api.read(sessionId)).toMatchObject({ status: 'completed', dial_status: 'busy' });
    expect(await api.balance()).toBe(balance);
  });

  test('a dial that nobody tells the outcome of has failed 90 s after it began', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    const before = await api.balance();
    const sessionId = await placed(api, body);
    await api.clock.advance(90_000 + 10_000);
    await api.sweeper.sweep();
    expect(await api.read(sessionId)).toMatchObject({
      status: 'completed',
      end_reason: 'dial_failed',
      dial_status: 'failed',
    });
    expect(await api.balance()).toBe(before);
  });

  test('a refusal of the provider is 502, names it, and leaves nothing', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    const before = await api.balance();
    api.carrier.failures.set('dial', new CarrierRefused('destination is out of service'));
    const reply = await api.call(body);
    expect([reply.status, reply.body['message']]).toEqual([
      502,
      'Fake carrier refused the request: destination is out of service',
    ]);
    expect(await api.balance()).toBe(before);
    expect(await sessionCount(api)).toBe(0);
  });

  test('a provider that can’t be reached is 503 and leaves nothing', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    api.carrier.failures.set('dial', new CarrierUnreachable());
    expect((await api.call(body)).status).toBe(503);
    expect(await sessionCount(api)).toBe(0);
  });

  test('a dial without an answer from the provider is not repeated: the session waits for news', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    api.carrier.failures.set('dial', new Error('socket hang up'));
    const sessionId = await placed(api, body);
    expect(await api.answer(sessionId)).toMatchObject({ dial_status: 'answered' });
  });
});

describe('refusals of a call carry a reason', () => {
  async function refusal(api: PhoneApi, body: Json) {
    const reply = await api.call(body);
    return [reply.status, reply.body['reason']];
  }

  test('checks run agent, published version, number, then destination', async () => {
    const api = await setUpPhoneApi();
    const draft = String((await api.ask('POST', '/v1/agent/agents', { name: 'Draft' })).body['agent_id']);
    const good = await api.callable();
    const bad = { agent_id: 'nobody', phone_number_id: 'nothing', to_number: 'nowhere' };

    expect(await refusal(api, bad)).toEqual([404, 'agent_not_found']);
    expect(await refusal(api, { ...bad, agent_id: draft })).toEqual([409, 'agent_not_published']);
    const { agent_id, phone_number_id } = good;
    expect(await refusal(api, { ...bad, agent_id })).toEqual([404, 'number_not_found']);
    expect(await refusal(api, { ...bad, agent_id, phone_number_id })).toEqual([422, 'destination_invalid']);
    expect(api.carrier.dialled).toEqual([]);
  });

  test('another team’s agent and number are 404 like missing ones', async () => {
    const api = await setUpPhoneApi();
    const mine = await api.callable();
    const foreign = await api.boughtNumber({ phone_number: '+14155550111' }, 'other');

    const missing = await api.call({ ...mine, phone_number_id: 'nothing' });
    const theirs = await api.call({ ...mine, phone_number_id: foreign });
    expect([theirs.status, theirs.body]).toEqual([404, missing.body]);
    expect((await api.call(mine, undefined, 'other')).body['reason']).toBe('agent_not_found');
  });

  test('a released number is not found, one that failed is not active', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    await api.askPhones('DELETE', `${NUMBERS}/${body['phone_number_id']}`);
    expect(await refusal(api, body)).toEqual([404, 'number_not_found']);

    api.carrier.failures.set('buy', new CarrierRefused('no'));
    await api.askPhones('POST', NUMBERS, { phone_number: NUMBER });
    const rows = (await api.askPhones('GET', NUMBERS)).body['phone_numbers'] as Json[];
    const phone_number_id = rows[0]?.['phone_number_id'];
    expect(await refusal(api, { ...body, phone_number_id })).toEqual([422, 'number_inactive']);
  });

  test('a number of a provider that can’t call out is unsupported', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    api.carrier.dialsFrom = ['sip'];
    expect(await refusal(api, body)).toEqual([422, 'number_provider_unsupported']);
  });

  test('an imported number without a host to send calls to has no termination', async () => {
    const api = await setUpPhoneApi();
    const agent_id = await api.publishedAgent();
    const phone_number_id = await importedNumber(api);
    expect(await refusal(api, { agent_id, phone_number_id, to_number: PERSON })).toEqual([
      422,
      'number_termination_missing',
    ]);
  });

  test('destinations of bought numbers are checked, those of own trunks are any E.164', async () => {
    const api = await setUpPhoneApi();
    const bought = await api.callable();
    const phone_number_id = await importedNumber(api, { termination_uri: 'sip.example.com' });
    const rules: [string, string, string][] = [
      ['+4930123456', 'destination_not_allowed', 'queued'],
      ['+18765550100', 'destination_not_allowed', 'queued'],
      ['+19005550100', 'premium_destination_blocked', 'queued'],
      ['+81990123456', 'premium_destination_blocked', 'queued'],
      ['+11155550100', 'destination_invalid', 'queued'],
      ['+1 415 555 0100', 'destination_invalid', 'destination_invalid'],
      ['14155550100', 'destination_invalid', 'destination_invalid'],
      ['+0123456789', 'destination_invalid', 'destination_invalid'],
      ['+1234567890123456', 'destination_invalid', 'destination_invalid'],
      ['', 'destination_invalid', 'destination_invalid'],
    ];
    for (const [to_number, fromBought, fromTrunk] of rules) {
      const refused = await api.call({ ...bought, to_number });
      expect.soft([refused.status, refused.body['reason']], to_number).toEqual([422, fromBought]);
      const own = await api.call({ ...bought, phone_number_id, to_number });
      expect.soft(own.body['reason'] ?? own.body['status'], to_number).toBe(fromTrunk);
    }
  });

  test('a team’s own numbers can’t be called', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    await api.boughtNumber({ phone_number: '+14155550111' });
    await api.boughtNumber({ phone_number: '+14155550122' }, 'other');
    expect(await refusal(api, { ...body, to_number: NUMBER })).toEqual([422, 'self_call_blocked']);
    expect(await refusal(api, { ...body, to_number: '+14155550111' })).toEqual([422, 'self_call_blocked']);
    expect((await api.call({ ...body, to_number: '+14155550122' })).status).toBe(201);
  });

  test('without credit it is 402 and leaves nothing', async () => {
    const api = await setUpPhoneApi({ creditMicros: 40_000 + PHONE_MINUTE_MICROS - 1 });
    const body = await api.callable();
    const reply = await api.call(body);
    expect([reply.status, reply.body]).toEqual([
      402,
      { status: 402, message: 'Out of API credit', reason: 'insufficient_credit' },
    ]);
    expect(await sessionCount(api)).toBe(0);
    expect(await api.balance()).toBe(PHONE_MINUTE_MICROS - 1);
    await api.charging.addCredit('payer', 1, 'more');
    expect((await api.call(body)).status).toBe(201);
  });

  test('where outbound calls are switched off it is 403', async () => {
    const api = await setUpPhoneApi({ limits: { isOutboundOn: false } });
    expect(await refusal(api, await api.callable())).toEqual([403, 'outbound_disabled']);
  });

  test('without a provider it is 503', async () => {
    const api = await setUpPhoneApi({ withoutCarrier: true });
    const agent_id = await api.publishedAgent();
    const phone_number_id = await importedNumber(api, { termination_uri: 'sip.example.com' });
    const reply = await api.call({ agent_id, phone_number_id, to_number: PERSON });
    expect(reply.status).toBe(503);
    expect(await sessionCount(api)).toBe(0);
  });
});

describe('limits of a team’s calls', () => {
  test('past ten at once it is 429, until one of them is over', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    const sessionIds: string[] = [];
    for (let i = 0; i < 10; i++) sessionIds.push(await placed(api, body));

    const eleventh = await api.call(body);
    expect([eleventh.status, eleventh.body['reason']]).toEqual([429, 'concurrency_limit_exceeded']);

    await api.end(String(sessionIds[0]), 'busy');
    expect((await api.call(body)).status).toBe(201);
  });

  test('50 parallel calls make ten', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    const before = Number(await api.balance());
    const replies = await Promise.all(Array.from({ length: 50 }, () => api.call(body)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(40);
    expect(api.carrier.dialled).toHaveLength(10);
    expect(await api.balance()).toBe(before - 10 * PHONE_MINUTE_MICROS);
  });

  test('a call whose end the carrier never told makes room once its session is over', async () => {
    const api = await setUpPhoneApi({ limits: { callsAtOnce: 1 } });
    const body = await api.callable();
    await placed(api, body);
    await api.clock.advance(100_000);
    await api.sweeper.sweep();
    expect((await api.call(body)).status).toBe(201);
  });

  test('another team’s calls take no place', async () => {
    const api = await setUpPhoneApi({ limits: { callsAtOnce: 1 } });
    await placed(api, await api.callable());
    const agent = await api.ask('POST', '/v1/agent/agents', { name: 'Theirs' }, { key: 'other' });
    const agent_id = String(agent.body['agent_id']);
    await api.ask('POST', `/v1/agent/agents/${agent_id}/publish`, undefined, { key: 'other' });
    const phone_number_id = await api.boughtNumber({ phone_number: '+14155550111' }, 'other');
    const reply = await api.call({ agent_id, phone_number_id, to_number: PERSON }, undefined, 'other');
    expect(reply.status).toBe(201);
  });

  test('past the day’s calls it is 429 until the next UTC day; refused tries count', async () => {
    const api = await setUpPhoneApi({ limits: { callsPerDay: 3 } });
    const body = await api.callable();
    expect((await api.call({ ...body, agent_id: 'nobody' })).status).toBe(404);
    expect((await api.call({ ...body, to_number: 'nowhere' })).status).toBe(422);
    expect((await api.call(body)).status).toBe(201);

    const fourth = await api.call(body);
    expect([fourth.status, fourth.body['reason']]).toEqual([429, 'daily_limit_exceeded']);
    const untilMidnightS = Math.ceil((DAY_MS - (api.clock.nowMs() % DAY_MS)) / 1000);
    expect(fourth.headers.get('retry-after')).toBe(String(untilMidnightS));

    await api.clock.advance(untilMidnightS * 1000);
    expect((await api.call(body)).status).toBe(201);
  });
});

describe('the Idempotency-Key', () => {
  test('the same key with the same body answers the same call, in any order of its fields', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable({ metadata: { a: 1, b: { c: 2, d: 3 } } });
    const first = await api.call(body, 'k-1');
    const reordered = Object.fromEntries(Object.entries(body).toReversed());
    const again = await api.call({ ...reordered, metadata: { b: { d: 3, c: 2 }, a: 1 } }, 'k-1');

    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(api.carrier.dialled).toHaveLength(1);
    expect(await sessionCount(api)).toBe(1);
  });

  test('other keys, other teams and no key make calls of their own', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    for (const key of ['k-1', 'k-2', undefined, undefined]) {
      expect((await api.call(body, key)).status).toBe(201);
    }
    expect((await api.call(body, 'k-1', 'other')).status).toBe(404);
    expect(api.carrier.dialled).toHaveLength(4);
  });

  test('the same key with another body is 422', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    await api.call(body, 'k-1');
    const reply = await api.call({ ...body, to_number: '+14155550198' }, 'k-1');
    expect([reply.status, reply.body]).toEqual([
      422,
      { status: 422, message: expect.any(String), reason: 'idempotency_key_reuse' },
    ]);
    expect(api.carrier.dialled).toHaveLength(1);
  });

  test('while the first request is still running it is 409', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    let goOn: () => void = () => {};
    api.carrier.failures.set('dial', new Promise<void>((resolve) => (goOn = resolve)));
    const running = api.call(body, 'k-1');
    while ((await sessionCount(api)) === 0);

    const second = await api.call(body, 'k-1');
    expect([second.status, second.body['reason']]).toEqual([409, 'idempotency_key_conflict']);
    const other = await api.call({ ...body, to_number: '+14155550198' }, 'k-1');
    expect([other.status, other.body['reason']]).toEqual([422, 'idempotency_key_reuse']);

    goOn();
    const first = await running;
    expect(first.status).toBe(201);
    expect((await api.call(body, 'k-1')).body).toEqual(first.body);
  });

  test('20 parallel requests under one key dial once', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    const replies = await Promise.all(Array.from({ length: 20 }, () => api.call(body, 'k-1')));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201, 409]));
    const made = replies.filter(({ status }) => status === 201);
    expect(new Set(made.map((reply) => reply.body['session_id'])).size).toBe(1);
    expect(api.carrier.dialled).toHaveLength(1);
  });

  test('a refused request frees its key', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    api.carrier.failures.set('dial', new CarrierRefused('busy'));
    expect((await api.call(body, 'k-1')).status).toBe(502);
    api.carrier.failures.clear();
    expect((await api.call(body, 'k-1')).status).toBe(201);
  });

  test('is remembered for 24 hours', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    const first = await api.call(body, 'k-1');
    await api.end(String(first.body['session_id']), 'busy');

    await api.clock.advance(24 * HOUR_MS - 1);
    expect((await api.call(body, 'k-1')).body).toEqual(first.body);
    await api.clock.advance(1);
    const later = await api.call(body, 'k-1');
    expect(later.status).toBe(201);
    expect(later.body).not.toEqual(first.body);
  });

  test('a request whose process died before anything happened can be made again after a minute', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    const first = await api.call(body, 'k-1');
    const keys = api.store.collection('phone_call_keys');
    const [key] = await keys.find({});
    await keys.updateOne({ _id: String(key?._id) }, { $set: { isDone: false, sessionId: 'ses_lost' } });

    expect((await api.call(body, 'k-1')).status).toBe(409);
    await api.clock.advance(60_000);
    const again = await api.call(body, 'k-1');
    expect(again.status).toBe(201);
    expect(again.body).not.toEqual(first.body);
  });

  test('a request whose process died after dialling answers its call and dials no other', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    const first = await api.call(body, 'k-1');
    const keys = api.store.collection('phone_call_keys');
    const [key] = await keys.find({});
    await keys.updateOne({ _id: String(key?._id) }, { $set: { isDone: false } });
    await api.clock.advance(60_000);
    expect((await api.call(body, 'k-1')).body).toEqual(first.body);
    expect(api.carrier.dialled).toHaveLength(1);
  });

  test('a key of more than 255 characters is 400', async () => {
    const api = await setUpPhoneApi();
    const body = await api.callable();
    expect((await api.call(body, 'k'.repeat(256))).status).toBe(400);
    expect((await api.call(body, 'k'.repeat(255))).status).toBe(201);
  });
});
