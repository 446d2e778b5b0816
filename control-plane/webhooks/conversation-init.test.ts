import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import type { OutgoingRequest, OutgoingResponse } from '../../shared/outgoing/outgoing-client.ts';
import { OutgoingError } from '../../shared/outgoing/outgoing-error.ts';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { createConversationInit } from './conversation-init.ts';

type Take = (
  nth: number,
  clock: FakeClock,
  input: OutgoingRequest,
) => Promise<{ status: number; body: string }>;

const CALL = {
  callerNumber: '+4915112345678',
  dialedNumber: '+493012345',
  agentId: 'agent1',
  phoneNumberId: 'number1',
  carrierCallSid: 'CA1',
};

function setUp(take: Take, endpoint: { secret?: string; timeout_seconds?: number } = {}) {
  const clock = new FakeClock();
  const asked: OutgoingRequest[] = [];
  async function request(input: OutgoingRequest): Promise<OutgoingResponse> {
    asked.push(input);
    const { status, body } = await take(asked.length - 1, clock, input);
    return { status, headers: {}, body: Buffer.from(body), isTruncated: body.length > input.maxBytes };
  }
  const init = createConversationInit({
    outgoing: { request },
    openSecret: (agentId, stored) => `${stored} of ${agentId}`,
    clock,
    log: silentLogger,
  });
  const ask = () =>
    init.ask({ url: 'https://crm.example/', secret: null, timeout_seconds: 5, ...endpoint }, CALL);
  return { clock, asked, ask };
}

const answering =
  (body: unknown, status = 200): Take =>
  async () => ({ status, body: typeof body === 'string' ? body : JSON.stringify(body) });

const silent: Take = async (_nth, clock, { deadlineMs }) => {
  await clock.sleep(deadlineMs);
  throw new OutgoingError('timed_out');
};

describe('the request', () => {
  test('is one POST with the event and the call', async () => {
    const { ask, asked } = setUp(answering({ dynamic_variables: { name: 'Ada' } }));
    expect(await ask()).toEqual({ name: 'Ada' });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ method: 'POST', deadlineMs: 5_000, maxRedirects: 0 });
    expect(JSON.parse(Buffer.from(asked[0]?.body ?? '').toString())).toEqual({
      event: 'call.inbound',
      call: {
        caller_number: '+4915112345678',
        dialed_number: '+493012345',
        agent_id: 'agent1',
        phone_number_id: 'number1',
        carrier_call_sid: 'CA1',
      },
    });
  });

  test('is signed like every webhook when there is a secret', async () => {
    const { ask, asked, clock } = setUp(answering({}), { secret: 'stored' });
    await ask();
    const t = Math.floor(clock.nowMs() / 1000);
    const body = Buffer.from(asked[0]?.body ?? '').toString();
    const v1 = createHmac('sha256', 'stored of agent1').update(`${t}.${body}`).digest('hex');
    expect(asked[0]?.headers?.['X-Service-Webhook-Signature']).toBe(`t=${t},v1=${v1}`);
  });
});

describe('the answer', () => {
  test('an entry that breaks a rule is dropped alone', async () => {
    const { ask } = setUp(
      answering({
        dynamic_variables: {
          name: 'Ada',
          visits: 3,
          isMember: true,
          '1st': 'no',
          'a-b': 'no',
          list: ['no'],
          nothing: null,
          long: 'x'.repeat(1_001),
          longest: 'x'.repeat(1_000),
        },
        other: 'ignored',
      }),
    );
    expect(await ask()).toEqual({ name: 'Ada', visits: 3, isMember: true, longest: 'x'.repeat(1_000) });
  });

  test('at most 50 entries are read', async () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`v${i}`, i]));
    const { ask } = setUp(answering({ dynamic_variables: many }));
    expect(Object.keys(await ask())).toHaveLength(50);
  });

  test.each([
    ['a list', []],
    ['no JSON', 'hello'],
    ['nothing', ''],
    ['null', null],
    ['variables that are a list', { dynamic_variables: ['a'] }],
    ['no variables', { variables: { a: 1 } }],
    ['more than is read', { dynamic_variables: { a: 1 }, more: 'x'.repeat(600_000) }],
  ])('%s means: no variables, and no second request', async (_what, body) => {
    const { ask, asked } = setUp(answering(body));
    expect(await ask()).toEqual({});
    expect(asked).toHaveLength(1);
  });
});

describe('an endpoint that fails never blocks the call', () => {
  test.each<[string, Take]>([
    ['refuses the connection', async () => Promise.reject(new OutgoingError('connect_failed'))],
    ['answers 500', answering('{}', 500)],
    ['redirects', answering('{}', 302)],
  ])('one that %s is asked once more at once, then the call goes on', async (_what, take) => {
    const { ask, asked, clock } = setUp(take);
    const beganMs = clock.nowMs();
    expect(await ask()).toEqual({});
    expect(asked).toHaveLength(2);
    expect(clock.nowMs()).toBe(beganMs);
  });

  test('the second answer counts', async () => {
    const { ask } = setUp(async (nth) => {
      if (nth === 0) throw new OutgoingError('connect_failed');
      return { status: 200, body: '{"dynamic_variables":{"name":"Ada"}}' };
    });
    expect(await ask()).toEqual({ name: 'Ada' });
  });

  test.each([1, 8])('silence of %i s ends the wait without another try', async (timeout_seconds) => {
    const { ask, asked, clock } = setUp(silent, { timeout_seconds });
    const beganMs = clock.nowMs();
    let endedMs = 0;
    const asking = ask().then((variables) => {
      endedMs = clock.nowMs();
      return variables;
    });
    await clock.advance(20_000);
    expect(await asking).toEqual({});
    expect(asked).toHaveLength(1);
    expect(endedMs - beganMs).toBe(timeout_seconds * 1_000);
  });

  test('the second try has what is left of the time-out', async () => {
    const { ask, asked, clock } = setUp(async (nth, c, input) => {
      if (nth === 1) return silent(nth, c, input);
      await c.sleep(3_000);
      return { status: 503, body: '' };
    });
    const asking = ask();
    await clock.advance(20_000);
    expect(await asking).toEqual({});
    expect(asked.map(({ deadlineMs }) => deadlineMs)).toEqual([5_000, 2_000]);
  });

  test.each(['forbidden_address', 'unresolvable'] as const)(
    'a URL that is %s is not asked twice',
    async (code) => {
      const { ask, asked } = setUp(async () => Promise.reject(new OutgoingError(code)));
      expect(await ask()).toEqual({});
      expect(asked).toHaveLength(1);
    },
  );

  test('a key that cannot be opened costs the variables, not the call', async () => {
    const clock = new FakeClock();
    const init = createConversationInit({
      outgoing: { request: async () => Promise.reject(new Error('must not be reached')) },
      openSecret: () => {
        throw new Error('no key');
      },
      clock,
      log: silentLogger,
    });
    const endpoint = { url: 'https://crm.example/', secret: 'sealed', timeout_seconds: 5 };
    expect(await init.ask(endpoint, CALL)).toEqual({});
  });
});
