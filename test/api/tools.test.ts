import { describe, expect, test } from 'vitest';
import type { Json } from './agents-setup.ts';
import { AGENTS, locsOf, setUpMaterials, TOOLS, WEBHOOK } from './tools-setup.ts';

const CLIENT = { name: 'show_map', tool_type: 'client' };
const chars = (count: number) => 'x'.repeat(count);

describe('creating a tool', () => {
  test('fills in every default and attaches it to no agent', async () => {
    const { ask } = await setUpMaterials();

    const { status, body } = await ask('POST', TOOLS, WEBHOOK);

    expect(status).toBe(201);
    expect(body).toEqual({
      tool_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      workspace_id: 'w1',
      name: 'Look up',
      description: '',
      tool_type: 'webhook',
      arguments: [],
      method: 'POST',
      url: 'https://api.example/orders',
      content_type: 'application/json',
      body_template: '',
      headers: [],
      execution_mode: 'blocking',
      timeout_seconds: 30,
      error_handling: 'passthrough',
      expects_response: true,
      mock_responses: [],
      used_by: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await ask('GET', `${TOOLS}/${body['tool_id']}`)).body).toEqual(body);
  });

  test('defaults inside lists are filled in as well', async () => {
    const { ask } = await setUpMaterials();
    const { body } = await ask('POST', TOOLS, {
      ...WEBHOOK,
      arguments: [{ name: 'city' }],
      headers: [{ name: 'X-Team', value: 'north' }],
      mock_responses: [{ name: 'fine' }],
    });
    expect(body).toMatchObject({
      arguments: [{ name: 'city', description: '' }],
      headers: [{ name: 'X-Team', value: 'north', kind: 'custom', has_secret: false }],
      mock_responses: [{ name: 'fine', status_code: 200, content_type: 'application/json', body: '' }],
    });
  });

  test('needs beta access', async () => {
    const { ask } = await setUpMaterials();
    const { status, body } = await ask('POST', TOOLS, WEBHOOK, { key: 'nobeta' });
    expect(status).toBe(403);
    expect(body['message']).toMatch(/beta/);
  });

  test('without a body is a bare 415, with broken JSON Malformed JSON', async () => {
    const { ask, server } = await setUpMaterials();
    expect(await ask('POST', TOOLS)).toMatchObject({ status: 415, body: null });
    const reply = await server.ask(TOOLS, { method: 'POST', body: '{' });
    expect(await reply.json()).toMatchObject({ status: 400, message: 'Malformed JSON' });
  });

  const ACCEPTED: [string, Json][] = [
    ['a name of 120 characters', { name: chars(120) }],
    ['a description of 2,000', { description: chars(2000) }],
    [
      'an argument name of 64 and a description of 500',
      { arguments: [{ name: chars(64), description: chars(500) }] },
    ],
    ['a url of 4,000', { url: `https://a.example/${chars(4000 - 18)}` }],
    ['a body template of 100,000', { body_template: chars(100_000) }],
    ['a mock body of 100,000', { mock_responses: [{ name: 'm', body: chars(100_000) }] }],
    [
      'mock statuses 100 and 599',
      {
        mock_responses: [
          { name: 'a', status_code: 100 },
          { name: 'b', status_code: 599 },
        ],
      },
    ],
    ['one second', { timeout_seconds: 1 }],
    ['120 seconds', { timeout_seconds: 120 }],
    ['300 seconds in the background', { timeout_seconds: 300, execution_mode: 'background' }],
    ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method): [string, Json] => [method, { method }]),
    ...['blocking', 'fire_and_forget', 'background'].map((mode): [string, Json] => [
      mode,
      { execution_mode: mode },
    ]),
    ...['passthrough', 'hide'].map((way): [string, Json] => [way, { error_handling: way }]),
    [
      'a known system variable',
      { url: 'https://a.example/?z={{system.timezone}}', body_template: '{{ system.today }}' },
    ],
    ['a placeholder that is no argument', { body_template: '{{order_id}}' }],
  ];
  test.each(ACCEPTED)('takes %s', async (_what, fields) => {
    const { ask } = await setUpMaterials();
    const { status, body } = await ask('POST', TOOLS, { ...WEBHOOK, ...fields });
    expect(status).toBe(201);
    expect(body).toMatchObject(fields);
  });

  const REFUSED: [string, Json, string][] = [
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of 121 characters', { name: chars(121) }, 'name'],
    ['a description of 2,001', { description: chars(2001) }, 'description'],
    ['an empty argument name', { arguments: [{ name: '' }] }, 'arguments.0.name'],
    ['an argument name of 65', { arguments: [{ name: chars(65) }] }, 'arguments.0.name'],
    [
      'an argument description of 501',
      { arguments: [{ name: 'a', description: chars(501) }] },
      'arguments.0.description',
    ],
    ['two arguments of one name', { arguments: [{ name: 'a' }, { name: 'a' }] }, 'arguments.1.name'],
    ['another method', { method: 'TRACE' }, 'method'],
    ['a url of 4,001', { url: `https://a.example/${chars(4001 - 18)}` }, 'url'],
    ['a webhook without a url', { url: undefined }, 'url'],
    ['a body template of 100,001', { body_template: chars(100_001) }, 'body_template'],
    ['an unknown system variable in the body', { body_template: '{{system.moon}}' }, 'body_template'],
    ['an unknown system variable in the url', { url: 'https://a.example/{{system.moon}}' }, 'url'],
    ['another kind of header', { headers: [{ name: 'A', value: 'b', kind: 'cookie' }] }, 'headers.0.kind'],
    ['a header without a value', { headers: [{ name: 'A' }] }, 'headers.0.value'],
    ['a header value of null', { headers: [{ name: 'A', value: null }] }, 'headers.0.value'],
    ['a header name with a space', { headers: [{ name: 'A b', value: 'c' }] }, 'headers.0.name'],
    ['a header of the connection', { headers: [{ name: 'Host', value: 'c' }] }, 'headers.0.name'],
    ['a line break in a header', { headers: [{ name: 'A', value: 'b\r\nC: d' }] }, 'headers.0.value'],
    [
      'one header twice',
      {
        headers: [
          { name: 'A', value: 'b' },
          { name: 'a', value: 'c' },
        ],
      },
      'headers.1.name',
    ],
    ['another execution mode', { execution_mode: 'later' }, 'execution_mode'],
    ['no time at all', { timeout_seconds: 0 }, 'timeout_seconds'],
    ['121 seconds', { timeout_seconds: 121 }, 'timeout_seconds'],
    [
      '121 seconds, fire and forget',
      { timeout_seconds: 121, execution_mode: 'fire_and_forget' },
      'timeout_seconds',
    ],
    [
      '301 seconds in the background',
      { timeout_seconds: 301, execution_mode: 'background' },
      'timeout_seconds',
    ],
    ['half a second', { timeout_seconds: 1.5 }, 'timeout_seconds'],
    ['another error handling', { error_handling: 'shout' }, 'error_handling'],
    [
      'a mock status of 99',
      { mock_responses: [{ name: 'm', status_code: 99 }] },
      'mock_responses.0.status_code',
    ],
    [
      'a mock status of 600',
      { mock_responses: [{ name: 'm', status_code: 600 }] },
      'mock_responses.0.status_code',
    ],
    [
      'a mock body of 100,001',
      { mock_responses: [{ name: 'm', body: chars(100_001) }] },
      'mock_responses.0.body',
    ],
    ['an unknown field', { colour: 'red' }, 'colour'],
    ['an unknown field in a list', { arguments: [{ name: 'a', type: 'string' }] }, 'arguments.0.type'],
    ['null', { description: null }, 'description'],
    ['another tool type', { tool_type: 'mcp' }, 'tool_type'],
  ];
  test.each(REFUSED)('refuses %s', async (_what, fields, loc) => {
    const { ask } = await setUpMaterials();
    const { status, body } = await ask('POST', TOOLS, { ...WEBHOOK, ...fields });
    expect(status).toBe(422);
    expect(locsOf(body)).toEqual([loc]);
  });
});

describe('the url of a webhook tool', () => {
  test.each([
    'ftp://a.example/',
    'a.example/x',
    'https://user:word@a.example/',
    'http://localhost/',
    'http://localhost:8080/',
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[fd00::1]/',
    'http://metadata.google.internal/',
    'https://{{host}}/x',
    'https://api.{{zone}}.example/x',
    'https://a.example:{{port}}/x',
    '{{scheme}}://a.example/',
    'https://{{user}}@a.example/',
    'https:{{rest}}',
    'https:\\\\a.example',
    'https://a.example/a b',
    'https://a.example/\ta',
  ])('may not be %s', async (url) => {
    const { ask } = await setUpMaterials();
    const { status, body } = await ask('POST', TOOLS, { name: 'T', url });
    expect(status).toBe(422);
    expect(locsOf(body)).toEqual(['url']);
    expect(JSON.stringify(body)).not.toContain(url);
  });

  test.each([
    'http://a.example',
    'HTTPS://A.example/x?y={{y}}#z',
    'https://a.example/{{ kind of thing }}/{{id}}?q={{q}}',
    'https://93.184.216.34:8443/{{id}}',
    'https://only-resolved-later.private.example/',
  ])('may be %s', async (url) => {
    const { ask } = await setUpMaterials();
    expect((await ask('POST', TOOLS, { name: 'T', url })).body).toMatchObject({ url });
  });

  test('may be a private host that the operator opened', async () => {
    const { ask } = await setUpMaterials({ allowHosts: ['127.0.0.1:9999'] });
    expect((await ask('POST', TOOLS, { name: 'T', url: 'http://127.0.0.1:9999/' })).status).toBe(201);
    expect((await ask('POST', TOOLS, { name: 'T', url: 'http://127.0.0.1:9998/' })).status).toBe(422);
  });
});

describe('client tools', () => {
  test.each(['a', 'showMap', 'show-map_2', `a${chars(63)}`])('may be named %s', async (name) => {
    const { ask } = await setUpMaterials();
    const { status, body } = await ask('POST', TOOLS, { ...CLIENT, name, expects_response: false });
    expect(status).toBe(201);
    expect(body).toMatchObject({ tool_type: 'client', name, url: '', expects_response: false });
  });

  test.each(['_show', '1st', 'show map', 'über', '-a', `a${chars(64)}`])(
    'may not be named %s',
    async (name) => {
      const { ask } = await setUpMaterials();
      const { status, body } = await ask('POST', TOOLS, { ...CLIENT, name });
      expect(status).toBe(422);
      expect(body).toMatchObject([{ type: 'string_pattern_mismatch', loc: ['body', 'name'] }]);
    },
  );

  test.each(['fire_and_forget', 'background'])('have no execution mode %s', async (mode) => {
    const { ask } = await setUpMaterials();
    const { status, body } = await ask('POST', TOOLS, { ...CLIENT, execution_mode: mode });
    expect(status).toBe(422);
    expect(locsOf(body)).toEqual(['execution_mode']);
  });

  test('of one name can’t be attached to an agent together', async () => {
    const { createTool, createAgent, attach, ask } = await setUpMaterials();
    const [one, two] = [await createTool(CLIENT), await createTool(CLIENT)];
    const agent = await createAgent();

    expect((await attach(agent, one, two)).status).toBe(400);
    expect((await ask('GET', `${AGENTS}/${agent}/config`)).body['tools']).toMatchObject({ tool_ids: [] });
    expect((await attach(agent, one)).status).toBe(200);
    expect((await attach(await createAgent(), two)).status).toBe(200);
  });

  test('can’t take the name of another one of the same agent', async () => {
    const { createTool, createAgent, attach, ask } = await setUpMaterials();
    const [one, two] = [await createTool(CLIENT), await createTool({ ...CLIENT, name: 'hide_map' })];
    await attach(await createAgent(), one, two);
    expect((await ask('PATCH', `${TOOLS}/${two}`, { name: 'show_map' })).status).toBe(400);
    expect((await ask('PATCH', `${TOOLS}/${two}`, { name: 'show_maps' })).status).toBe(200);
  });

  test('may share their name with webhook tools, and webhook tools with each other', async () => {
    const { createTool, createAgent, attach } = await setUpMaterials();
    const ids = [
      await createTool(CLIENT),
      await createTool({ name: 'show_map' }),
      await createTool({ name: 'show_map' }),
    ];
    expect((await attach(await createAgent(), ...ids)).status).toBe(200);
  });
});
