import { once } from 'node:events';
import { connect } from 'node:net';
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { route } from '../../control-plane/http/route.ts';
import { Failure } from '../../shared/errors.ts';
import { type ApiServer, startApiServer } from '../fakes/api-server.ts';

const Thing = Type.Object({ name: Type.String() }, { additionalProperties: false });

const routes = [
  route({
    method: 'GET',
    path: '/things/{id}',
    access: 'api_key',
    summary: 'One thing',
    tag: 'Things',
    params: Type.Object({ id: Type.String() }),
    reply: { status: 200, schema: Type.Object({ id: Type.String() }) },
    handle: async ({ params }) => {
      if (params.id === 'boom') throw new Error('password is hunter2');
      if (params.id === 'gone') throw new Failure('not_found', 'Thing not found', { reason: 'gone' });
      if (params.id === 'busy') throw new Failure('rate_limited', 'Too many', { retryAfterS: 7 });
      return { id: params.id };
    },
  }),
  route({
    method: 'DELETE',
    path: '/things/{id}',
    access: 'api_key',
    summary: 'Remove',
    tag: 'Things',
    params: Type.Object({ id: Type.String() }),
    reply: { status: 204 },
    handle: async () => undefined,
  }),
  route({
    method: 'POST',
    path: '/things',
    access: 'api_key',
    summary: 'Create',
    tag: 'Things',
    body: Thing,
    reply: { status: 201, schema: Type.Object({ name: Type.String() }) },
    handle: async ({ body }) => body,
  }),
  route({
    method: 'POST',
    path: '/things/publish',
    access: 'api_key',
    summary: 'Optional body',
    tag: 'Things',
    body: Type.Object({ title: Type.Optional(Type.String()) }, { additionalProperties: false }),
    isBodyOptional: true,
    reply: { status: 200, schema: Type.Object({ title: Type.Union([Type.String(), Type.Null()]) }) },
    handle: async ({ body }) => ({ title: body.title ?? null }),
  }),
  route({
    method: 'POST',
    path: '/sessions',
    access: 'api_key_or_public',
    summary: 'Who is it',
    tag: 'Things',
    body: Type.Object({}),
    isCrossOrigin: true,
    reply: {
      status: 201,
      schema: Type.Object({ kind: Type.String(), origin: Type.Union([Type.String(), Type.Null()]) }),
    },
    handle: async ({ caller }) => ({
      kind: caller.kind,
      origin: caller.kind === 'anonymous' ? caller.origin : null,
    }),
  }),
];

let api: ApiServer;
beforeAll(async () => {
  api = await startApiServer(routes);
});
afterAll(() => api.stop());

const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  api.ask(path, { method: 'POST', body, headers });

test('an unknown path is 404 with the error body, before anything about the caller is asked', async () => {
  const reply = await fetch(`${api.baseUrl}/nowhere`, { method: 'POST' });

  expect(reply.status).toBe(404);
  expect(await reply.json()).toEqual({ status: 404, message: 'Not found', reason: null });
});

test.each(['PUT', 'PATCH', 'POST', 'PROPFIND'])(
  '%s on a path without it is 405 with Allow',
  async (method) => {
    const reply = await fetch(`${api.baseUrl}/things/1`, { method });

    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe('GET, HEAD, DELETE, OPTIONS');
    expect(await reply.json()).toEqual({ status: 405, message: 'Method not allowed', reason: null });
  },
);

test('TRACE is 405, too', async () => {
  const answer = await raw('TRACE /things/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');

  expect(answer).toMatch(/^HTTP\/1.1 405 /);
  expect(answer).toContain('Allow: GET, HEAD, DELETE, OPTIONS');
});

test('OPTIONS lists the methods', async () => {
  const reply = await fetch(`${api.baseUrl}/things/1`, { method: 'OPTIONS' });

  expect(reply.status).toBe(204);
  expect(reply.headers.get('allow')).toBe('GET, HEAD, DELETE, OPTIONS');
});

test.each([
  ['missing', undefined],
  ['of another scheme', 'Basic Z29vZA=='],
  ['without a token', 'Bearer '],
  ['with two tokens', 'Bearer good good'],
  ['a token alone', 'good'],
])('an Authorization header that is %s gets a bare 401', async (_name, authorization) => {
  const reply = await fetch(`${api.baseUrl}/things/1`, authorization ? { headers: { authorization } } : {});

  expect(reply.status).toBe(401);
  expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  expect(reply.headers.get('content-type')).toBeNull();
  expect(await reply.text()).toBe('');
});

test.each([
  ['bad', 'Invalid token'],
  ['old', 'Token expired'],
])('the credential %s gets a JSON 401: %s', async (key, message) => {
  const reply = await api.ask('/things/1', { headers: { authorization: `Bearer ${key}` } });

  expect(reply.status).toBe(401);
  expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/);
  expect(await reply.json()).toEqual({ status: 401, message, reason: null });
});

test('the scheme of the Authorization header is read in any case', async () => {
  expect((await api.ask('/things/1', { headers: { authorization: 'bearer good' } })).status).toBe(200);
});

test('on a public route a caller without a header is anonymous, and a malformed header is still a bare 401', async () => {
  const init = { method: 'POST', body: '{}' };
  const json = { 'content-type': 'application/json' };
  const anonymous = await fetch(`${api.baseUrl}/sessions`, {
    ...init,
    headers: { ...json, origin: 'https://a.example' },
  });
  const malformed = await fetch(`${api.baseUrl}/sessions`, {
    ...init,
    headers: { ...json, authorization: 'x' },
  });

  expect(await anonymous.json()).toEqual({ kind: 'anonymous', origin: 'https://a.example' });
  expect(malformed.status).toBe(401);
  expect(await malformed.text()).toBe('');
});

test('credentials are checked before the body', async () => {
  const reply = await fetch(`${api.baseUrl}/things`, { method: 'POST', body: 'x' });

  expect(reply.status).toBe(401);
});

test.each([
  ['no body', undefined, 'application/json'],
  ['an empty body', '', 'application/json'],
  ['text', '{"name":"a"}', 'text/plain'],
  ['a form', 'name=a', 'application/x-www-form-urlencoded'],
  ['JSON in Latin 1', '{"name":"a"}', 'application/json; charset=iso-8859-1'],
])('%s gets a bare 415', async (_name, body, type) => {
  const reply = await api.ask('/things', {
    method: 'POST',
    headers: { 'content-type': type },
    ...(body === undefined ? {} : { body }),
  });

  expect(reply.status).toBe(415);
  expect(reply.headers.get('content-type')).toBeNull();
  expect(await reply.text()).toBe('');
});

test('a body without a Content-Type gets a bare 415', async () => {
  const answer = await raw(
    'POST /things HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nConnection: close\r\nContent-Length: 12\r\n\r\n{"name":"a"}',
  );

  expect(answer).toMatch(/^HTTP\/1.1 415 /);
});

test('an empty chunked body gets a bare 415', async () => {
  const answer = await raw(
    'POST /things HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nConnection: close\r\n' +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  );

  expect(answer).toMatch(/^HTTP\/1.1 415 /);
});

test('JSON with a UTF-8 charset parameter is taken', async () => {
  const reply = await post('/things', '{"name":"ü"}', {
    'content-type': 'Application/JSON; Charset="UTF-8"',
  });

  expect(reply.status).toBe(201);
  expect(await reply.json()).toEqual({ name: 'ü' });
});

test('where the body is optional, none at all, an empty one and one without fields are the same', async () => {
  const bare = await api.ask('/things/publish', { method: 'POST' });
  const empty = await api.ask('/things/publish', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  const given = await post('/things/publish', '{"title":"a"}');
  const chunked = await raw(
    'POST /things/publish HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nConnection: close\r\n' +
      'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  );

  expect([await bare.json(), await empty.json(), await given.json()]).toEqual([
    { title: null },
    { title: null },
    { title: 'a' },
  ]);
  expect(chunked).toMatch(/^HTTP\/1.1 200 /);
});

test('where the body is optional, one that is not JSON is still a bare 415', async () => {
  const reply = await post('/things/publish', 'hello', { 'content-type': 'text/plain' });

  expect(reply.status).toBe(415);
});

test.each([
  ['one byte over the limit', 1_000_001],
  ['twice the limit', 2_000_000],
])('a body of %s is 413', async (_name, bytes) => {
  const reply = await post('/things', `"${'a'.repeat(bytes - 2)}"`);

  expect(reply.status).toBe(413);
  expect(await reply.json()).toEqual({ status: 413, message: 'Payload too large', reason: null });
});

test('a chunked body without a declared length is cut off at the limit, too', async () => {
  const piece = Buffer.alloc(64 * 1024, 'a');
  async function* pieces() {
    for (let i = 0; i < 20; i++) yield piece;
  }
  const reply = await fetch(`${api.baseUrl}/things`, {
    method: 'POST',
    body: ReadableStream.from(pieces()),
    duplex: 'half',
    headers: { authorization: 'Bearer good', 'content-type': 'application/json' },
  });

  expect(reply.status).toBe(413);
});

test('a declared length far over the limit is refused without reading', async () => {
  const answer = await raw(
    'POST /things HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n' +
      'Content-Length: 1000000000\r\n\r\n{',
  );

  expect(answer).toMatch(/^HTTP\/1.1 413 /);
  expect(answer).toMatch(/Connection: close/i);
});

test('a body of exactly the limit is read', async () => {
  const reply = await post('/things', `"${'a'.repeat(999_998)}"`);

  expect(reply.status).toBe(422);
});

test.each([
  ['cut short', '{"name":'],
  ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['nested 100,000 deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['with a __proto__ key', '{"name":"a","__proto__":{"isAdmin":true}}'],
  ['with an escaped __proto__ key', '{"\\u005f_proto__":{}}'],
  ['with constructor.prototype', '{"constructor":{"prototype":{}}}'],
])('a body %s is 400 Malformed JSON', async (_name, body) => {
  const reply = await post('/things', body);

  expect(reply.status).toBe(400);
  expect(await reply.json()).toEqual({ status: 400, message: 'Malformed JSON', reason: null });
});

test('a refusal of the handler carries its reason and its Retry-After', async () => {
  const gone = await api.ask('/things/gone');
  const busy = await api.ask('/things/busy');

  expect(gone.status).toBe(404);
  expect(await gone.json()).toEqual({ status: 404, message: 'Thing not found', reason: 'gone' });
  expect(busy.status).toBe(429);
  expect(busy.headers.get('retry-after')).toBe('7');
});

test('an unknown error says nothing to the caller and everything to the log', async () => {
  const reply = await api.ask('/things/boom', { headers: { 'x-request-id': 'find-me' } });

  expect(reply.status).toBe(500);
  expect(await reply.json()).toEqual({ status: 500, message: 'Internal error', reason: null });
  const line = api.lines.find((l) => l.level === 'error' && l.fields['request_id'] === 'find-me');
  expect(String(line?.fields['err'])).toContain('hunter2');
  expect(line?.fields['trace_id']).toMatch(/^[0-9a-f]{32}$/);
});

test('204 has no body and no Content-Type', async () => {
  const reply = await api.ask('/things/1', { method: 'DELETE' });

  expect(reply.status).toBe(204);
  expect(reply.headers.get('content-type')).toBeNull();
  expect(await reply.text()).toBe('');
});

test('HEAD answers like GET without the body', async () => {
  const reply = await api.ask('/things/1', { method: 'HEAD' });

  expect(reply.status).toBe(200);
  expect(await reply.text()).toBe('');
});

test('a fixed path wins over one with a placeholder', async () => {
  expect((await api.ask('/things/publish', { method: 'POST' })).status).toBe(200);
});

test('bytes that are no HTTP get a 400 of the usual shape', async () => {
  const answer = await raw('hello there\r\n\r\n');

  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(answer).toContain('{"status":400,"message":"Bad Request","reason":null}');
  expect(answer).toMatch(/X-Request-Id: /);
});

test('after all this the server still answers', async () => {
  expect((await api.ask('/things/1')).status).toBe(200);
});

async function raw(request: string): Promise<string> {
  const socket = connect(api.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  socket.on('error', () => {});
  socket.write(request);
  await once(socket, 'close');
  return answer;
}
