import { describe, expect, test } from 'vitest';
import type { Json } from './agents-setup.ts';
import { setUpMaterials, startWebhook, TOOLS } from './tools-setup.ts';

/** A stored tool whose webhook answers `{"ok":true}`, and a way to call it. */
async function setUp(
  tool: Json = {},
  answer: Parameters<typeof startWebhook>[0] = (response) => {
    response.setHeader('content-type', 'application/json').end('{"ok":true}');
  },
) {
  const webhook = await startWebhook(answer);
  const api = await setUpMaterials({ allowHosts: [webhook.host] });
  const path = typeof tool['url'] === 'string' ? tool['url'] : '/hook';
  const id = await api.createTool({ ...tool, url: `${webhook.url}${path}` });
  const call = (args?: Json) => api.ask('POST', `${TOOLS}/${id}/test`, args && { arguments: args });
  return { ...api, ...webhook, id, call };
}

const args = (...names: string[]) => ({ arguments: names.map((name) => ({ name })) });

describe('a test call', () => {
  test('answers status, time, type and body', async () => {
    const { call } = await setUp();
    const { status, body } = await call({});
    expect(status).toBe(200);
    expect(body).toEqual({
      status_code: 200,
      latency_ms: expect.any(Number),
      content_type: 'application/json',
      body: '{"ok":true}',
      response_truncated: false,
      error: null,
    });
  });

  test('needs no arguments and no body', async () => {
    const { call, received } = await setUp();
    expect((await call()).status).toBe(200);
    expect(received).toMatchObject([{ method: 'POST', url: '/hook', body: '' }]);
  });

  test('of a webhook that fails is 200 with its status', async () => {
    const { call } = await setUp({}, (response) => response.writeHead(503).end('down'));
    expect(await call({})).toMatchObject({
      status: 200,
      body: { status_code: 503, body: 'down', content_type: null, error: null },
    });
  });

  test('of a webhook that isn’t there is 200 with an error', async () => {
    const { call } = await setUp({}, (response) => response.destroy());
    const { status, body } = await call({});
    expect(status).toBe(200);
    expect(body).toEqual({
      status_code: null,
      latency_ms: expect.any(Number),
      content_type: null,
      body: null,
      response_truncated: false,
      error: 'Connection failed',
    });
  });

  test('ends at the tool’s time limit', async () => {
    const { call } = await setUp({ timeout_seconds: 1 }, () => {});
    const { status, body } = await call({});
    expect(status).toBe(200);
    expect(body).toMatchObject({ status_code: null, error: 'Request timed out' });
  });

  test('never reaches a host that resolves to a private address', async () => {
    const { createTool, ask } = await setUpMaterials();
    const id = await createTool({ url: 'http://db.private.example/' });
    const { status, body } = await ask('POST', `${TOOLS}/${id}/test`, {});
    expect(status).toBe(200);
    expect(body).toMatchObject({ status_code: null });
    expect(body['error']).not.toContain('10.0.0.7');
  });

  test.each([
    [65_536, false],
    [65_537, true],
  ])('keeps the first 64 KB of %i bytes', async (size, isCut) => {
    const { call } = await setUp({}, (response) => response.end('x'.repeat(size)));
    const { body } = await call({});
    expect(body['response_truncated']).toBe(isCut);
    expect(String(body['body']).length).toBe(65_536);
  });

  test('of a client tool is a 400: it runs elsewhere', async () => {
    const { ask } = await setUpMaterials();
    const { body } = await ask('POST', TOOLS, { name: 'show', tool_type: 'client' });
    expect((await ask('POST', `${TOOLS}/${body['tool_id']}/test`, {})).status).toBe(400);
  });

  test('refuses unknown fields', async () => {
    const { ask, id } = await setUp();
    expect((await ask('POST', `${TOOLS}/${id}/test`, { args: {} })).status).toBe(422);
  });

  test('never answers with a mock response', async () => {
    const { call } = await setUp({ mock_responses: [{ name: 'm', status_code: 201, body: 'mock' }] });
    expect((await call({})).body).toMatchObject({ status_code: 200, body: '{"ok":true}' });
  });
});

describe('the request of a tool', () => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('is made with %s', async (method) => {
    const { call, received } = await setUp({ method });
    await call({});
    expect(received.map((request) => request.method)).toEqual([method]);
  });

  test('has arguments in its url, encoded', async () => {
    const { call, received } = await setUp({
      url: '/{{a}}/x?q={{ b }}#{{a}}',
      method: 'GET',
      ...args('a', 'b'),
    });
    await call({ a: 'x/y?&#%', b: '1 & 2=ü' });
    expect(received[0]?.url).toBe('/x%2Fy%3F%26%23%25/x?q=1%20%26%202%3D%C3%BC');
  });

  test.each(['.', '..'])('is not made when %s would climb in the path', async (value) => {
    const { call, received } = await setUp({ url: '/orders/{{id}}/lines', ...args('id') });
    const { status, body } = await call({ id: value });
    expect(status).toBe(200);
    expect(body['error']).toBe('An argument would change the path of the URL');
    expect(received).toEqual([]);
  });

  test('has arguments in a JSON body: inside strings escaped, elsewhere as values', async () => {
    const template = '{"say":"<{{text}}>","n":{{n}},"list":{{list}},"yes":{{yes}},"none":{{none}}}';
    const { call, received } = await setUp({
      body_template: template,
      ...args('text', 'n', 'list', 'yes', 'none'),
    });
    await call({ text: 'a"b\\c\nd', n: 4.5, list: [1, { x: '"' }], yes: true });
    expect(received[0]?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      say: '<a"b\\c\nd>',
      n: 4.5,
      list: [1, { x: '"' }],
      yes: true,
      none: null,
    });
  });

  test('can’t be given further JSON fields by an argument', async () => {
    const { call, received } = await setUp({ body_template: '{"a":"{{a}}","b":{{b}}}', ...args('a', 'b') });
    await call({ a: '","admin":"yes', b: '1,"admin":true' });
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({ a: '","admin":"yes', b: '1,"admin":true' });
  });

  test('has arguments in a form, encoded, and in plain text as they are', async () => {
    const form = await setUp({
      content_type: 'application/x-www-form-urlencoded',
      body_template: 'a={{a}}',
      ...args('a'),
    });
    await form.call({ a: '1&b=2' });
    expect(form.received[0]?.body).toBe('a=1%26b%3D2');
    const plain = await setUp({ content_type: 'text/plain', body_template: 'Say {{a}}', ...args('a') });
    await plain.call({ a: '"1" & 2' });
    expect(plain.received[0]).toMatchObject({
      body: 'Say "1" & 2',
      headers: { 'content-type': 'text/plain' },
    });
  });

  test('leaves placeholders that nobody declared as written', async () => {
    const { call, received } = await setUp({ body_template: '{"a":"{{a}}","b":"{{b}}"}', ...args('a') });
    await call({ a: '{{b}}', b: 'given all the same' });
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({ a: '{{b}}', b: '{{b}}' });
  });

  test('knows the system variables, without a conversation as far as it can', async () => {
    const { call, received } = await setUp({
      body_template: '{{system.timezone}}/{{system.language}}',
      content_type: 'text/plain',
    });
    await call({});
    expect(received[0]?.body).toBe('UTC/en');
  });

  test('sends all declared arguments as JSON when there is no template', async () => {
    const { call, received } = await setUp(args('a', 'b'));
    await call({ a: [1], c: 'not declared' });
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({ a: [1], b: null });
  });

  test('never has a body with GET', async () => {
    const { call, received } = await setUp({ method: 'GET', body_template: '{"a":1}' });
    await call({});
    expect(received[0]).toMatchObject({ body: '' });
  });

  test('has its headers exactly as stored, credentials included, nothing filled in', async () => {
    const { call, received } = await setUp({
      headers: [
        { name: 'X-Plain', value: '{{a}}' },
        { name: 'Authorization', value: 'Bearer s3cr3t', kind: 'authorization_bearer' },
        { name: 'Content-Type', value: 'application/vnd.own+json' },
      ],
      body_template: '{}',
      ...args('a'),
    });
    await call({ a: 'filled' });
    expect(received[0]?.headers).toMatchObject({
      'x-plain': '{{a}}',
      authorization: 'Bearer s3cr3t',
      'content-type': 'application/vnd.own+json',
    });
  });

  test('that arguments would make endless isn’t made', async () => {
    const { call, received } = await setUp({
      body_template: '{{a}}'.repeat(2000),
      content_type: 'text/plain',
      ...args('a'),
    });
    const { body } = await call({ a: 'x'.repeat(10_000) });
    expect(body['error']).toBe('The arguments make the request too large');
    expect(received).toEqual([]);
  });
});
