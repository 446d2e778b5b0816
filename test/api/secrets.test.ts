import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LogLine, recordingLogger } from '../fakes/api-server.ts';
import { type EveryRoute, type Ids, startEveryRoute } from './every-route-setup.ts';

/** Every value that can be written and must never be read, under the name of its field. */
const SECRETS = {
  'webhooks.post_call.secret': 'hush-post-call-secret-71d3',
  'webhooks.conversation_init.secret': 'hush-inbound-secret-5b0a',
  'llm.custom.api_key': 'hush-llm-key-93e2',
  'tool authorization_bearer': 'Bearer hush-bearer-0c11',
  'tool authorization_basic': 'Basic aHVzaC1iYXNpYy00YjdlOng=',
  'number inbound_auth_password': 'hush-inbound-sip-88fa',
  'number termination_auth_password': 'hush-outbound-sip-2d6c',
} as const;

/** What would be refused is not repeated either. */
const REFUSED = 'hush-refused-value-1f9b';

let api: EveryRoute;
let own: Ids;
const lines: LogLine[] = [];
const replies: string[] = [];

beforeAll(async () => {
  api = await startEveryRoute({ log: recordingLogger(lines), env: { PARLEY_LOG_LEVEL: 'debug' } });
  own = { ...(await api.makeOneOfEach()), phone_number_id: '' };
  const write = async (method: string, path: string, body: unknown): Promise<Record<string, string>> => {
    const reply = await api.call(method, path, body);
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`);
    replies.push(JSON.stringify(reply.body));
    return reply.body;
  };
  const agent = `/v1/agent/agents/${own['agent_id']}`;
  await write('PATCH', `${agent}/config`, {
    webhooks: {
      post_call: [{ url: 'https://a.example.com/', secret: SECRETS['webhooks.post_call.secret'] }],
      conversation_init: {
        url: 'https://b.example.com/',
        secret: SECRETS['webhooks.conversation_init.secret'],
      },
    },
    llm: {
      custom: {
        base_url: 'https://llm.example.com/v1',
        model: 'm',
        api_key: SECRETS['llm.custom.api_key'],
      },
    },
  });
  await write('PATCH', `/v1/agent/tools/${own['tool_id']}`, {
    headers: [
      { name: 'Authorization', value: SECRETS['tool authorization_bearer'], kind: 'authorization_bearer' },
      { name: 'X-Upstream', value: SECRETS['tool authorization_basic'], kind: 'authorization_basic' },
    ],
  });
  const { phone_number_id = '' } = await write('POST', '/v1/agent/phone-numbers', {
    provider: 'sip',
    phone_number: '+14155550142',
    inbound_auth_username: 'in',
    inbound_auth_password: SECRETS['number inbound_auth_password'],
    termination_uri: 'sip.example.com',
    termination_auth_username: 'out',
    termination_auth_password: SECRETS['number termination_auth_password'],
  });
  own = { ...own, phone_number_id, version_number: '2' };
  await write('POST', `${agent}/publish`, {});
});
afterAll(() => api?.stop());

/** The value as it is, and as base64 or hex might hide it. */
function disguises(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('base64').replace(/=+$/, '').slice(0, -2),
    bytes.toString('hex'),
    encodeURIComponent(secret),
  ];
}

function expectNoSecret(where: string, haystack: string): void {
  for (const [field, secret] of Object.entries(SECRETS)) {
    for (const disguise of disguises(secret)) {
      expect(haystack.includes(disguise), `${field} is readable in ${where}`).toBe(false);
    }
  }
}

test('no secret is in the reply of any GET, nor of the writes that brought them', async () => {
  const readable = api.operations.filter(({ method }) => method === 'GET');
  expect(readable.length).toBeGreaterThanOrEqual(20);
  for (const operation of readable) {
    const { text } = await api.perform(operation, own);
    expectNoSecret(operation.name, text);
  }
  for (const reply of replies) expectNoSecret('the reply of a write', reply);
});

test('what is readable instead says that there is a secret', async () => {
  const config = (await api.call('GET', `/v1/agent/agents/${own['agent_id']}/config`)).body;
  expect(config.webhooks.post_call).toEqual([{ url: 'https://a.example.com/', has_secret: true }]);
  expect(config.webhooks.conversation_init).toMatchObject({ has_secret: true });
  expect(config.llm.custom).toMatchObject({ model: 'm', api_key: null });
  const tool = (await api.call('GET', `/v1/agent/tools/${own['tool_id']}`)).body;
  expect(tool.headers).toEqual([
    expect.objectContaining({ name: 'Authorization', value: null, has_secret: true }),
    expect.objectContaining({ name: 'X-Upstream', value: null, has_secret: true }),
  ]);
  const number = (await api.call('GET', `/v1/agent/phone-numbers/${own['phone_number_id']}`)).body;
  expect(number).toMatchObject({ has_inbound_auth_password: true, has_termination_auth_password: true });
});

test('no secret, and no API key, is in the store’s raw bytes', async () => {
  const raw = (await api.rawBytes()).toString('latin1');
  // The search finds what is there.
  expect(raw).toContain('https://a.example.com/');
  expect(raw).toContain('sip.example.com');
  expectNoSecret('the store', raw);
  for (const disguise of disguises(api.account.apiKey)) expect(raw.includes(disguise)).toBe(false);
});

test('no secret is repeated to a caller whose request is refused', async () => {
  const refusals = [
    api.call('PATCH', `/v1/agent/agents/${own['agent_id']}/config`, {
      webhooks: { post_call: [{ url: 'https://a.example.com/', secret: REFUSED.repeat(20) }] },
      [REFUSED]: REFUSED,
      llm: { custom: { base_url: REFUSED, api_key: REFUSED } },
    }),
    api.call('POST', '/v1/agent/tools', {
      name: 'T',
      url: 'https://x.example.com/',
      headers: [{ name: 'Authorization', value: `${REFUSED}\n`, kind: 'authorization_bearer' }],
    }),
    api.call('POST', '/v1/agent/phone-numbers', {
      provider: 'sip',
      phone_number: '+14155550143',
      inbound_auth_username: 'in',
      inbound_auth_password: `${REFUSED}\n`,
    }),
  ];
  for (const { status, body } of await Promise.all(refusals)) {
    expect(status).toBe(422);
    const values = (body as { msg: string; ctx: object }[]).map(({ msg, ctx }) => JSON.stringify([msg, ctx]));
    expect(values.join()).not.toContain(REFUSED);
  }
});

test('no secret, no API key and no refused value is in the logs', () => {
  const logged = JSON.stringify(lines, (_key, value: unknown) =>
    value instanceof Error ? `${value.stack} ${JSON.stringify(value)} ${String(value.cause)}` : value,
  );
  expect(lines.length).toBeGreaterThan(20);
  expectNoSecret('the logs', logged);
  expect(logged).not.toContain(REFUSED);
  expect(logged).not.toContain(api.account.apiKey);
});
