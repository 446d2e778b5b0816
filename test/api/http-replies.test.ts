import { get } from 'node:http';
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import { CoordinationUnavailable } from '../../control-plane/coordination/coordination.ts';
import { bindRoutes } from '../../control-plane/http/bind-routes.ts';
import { healthRoutes } from '../../control-plane/http/health-routes.ts';
import { createHttpServer } from '../../control-plane/http/http-server.ts';
import { createMetricsListener } from '../../control-plane/http/metrics-listener.ts';
import { type AnyRoute, route } from '../../control-plane/http/route.ts';
import { StoreUnavailable } from '../../control-plane/storage/collection.ts';
import { silentLogger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';
import { type ApiServerOptions, startApiServer } from '../fakes/api-server.ts';

async function setUp(routes: AnyRoute[], options: ApiServerOptions = {}) {
  const api = await startApiServer(routes, options);
  onTestFinished(() => api.stop());
  return api;
}

/** A route that answers whatever a handler without types would. */
const answering = (schema: ReturnType<typeof Type.Object>, reply: unknown, more: Partial<AnyRoute> = {}) =>
  ({
    ...route({
      method: 'GET',
      path: '/x',
      access: 'open',
      summary: 'X',
      tag: 'X',
      reply: { status: 200, schema },
      handle: async () => reply as never,
    }),
    ...more,
  }) satisfies AnyRoute;

const throwing = (error: unknown) =>
  route({
    method: 'GET',
    path: '/x',
    access: 'open',
    summary: 'X',
    tag: 'X',
    reply: { status: 204 },
    handle: async () => {
      throw error;
    },
  });

test('a property that the schema does not declare never leaves the process, at any depth', async () => {
  const Inner = Type.Object({ a: Type.String() });
  const schema = Type.Object({
    one: Inner,
    list: Type.Array(Inner),
    choice: Type.Union([Type.Null(), Inner]),
    both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]),
    open: Type.Record(Type.String(), Type.Unknown()),
    free: Type.Unknown(),
  });
  const leaky = { a: 'x', secret: 's' };
  const api = await setUp([
    answering(schema, {
      one: leaky,
      list: [leaky],
      choice: leaky,
      both: { ...leaky, b: 'y' },
      open: { any: 1 },
      free: { any: 1 },
      secret: 's',
    }),
  ]);

  expect(await (await api.ask('/x')).json()).toEqual({
    one: { a: 'x' },
    list: [{ a: 'x' }],
    choice: { a: 'x' },
    both: { a: 'x', b: 'y' },
    open: { any: 1 },
    free: { any: 1 },
  });
});

test('a reply that breaks its schema is a 500 and a log line in development', async () => {
  const api = await setUp([answering(Type.Object({ n: Type.Integer() }), { n: 'secret' })]);

  const reply = await api.ask('/x');

  expect(reply.status).toBe(500);
  expect(await reply.text()).not.toContain('secret');
  expect(api.lines.some((l) => l.level === 'error')).toBe(true);
});

test('in production such a reply is sent, stripped, and reported', async () => {
  const api = await setUp([answering(Type.Object({ n: Type.Integer() }), { n: 'x', secret: 's' })], {
    replyCheck: 'report',
  });

  const reply = await api.ask('/x');

  expect(reply.status).toBe(200);
  expect(await reply.json()).toEqual({ n: 'x' });
  expect(api.lines.filter((l) => l.level === 'error')).toHaveLength(1);
});

test.each([
  ['store', new StoreUnavailable()],
  ['coordination', new CoordinationUnavailable()],
])('a %s that does not answer is 503 with Retry-After', async (_name, error) => {
  const api = await setUp([throwing(error)]);

  const reply = await api.ask('/x');

  expect(reply.status).toBe(503);
  expect(reply.headers.get('retry-after')).toBe('1');
  expect(await reply.json()).toEqual({
    status: 503,
    message: 'Service temporarily unavailable',
    reason: null,
  });
});

test('every reply carries a request id; a sane one of the caller is kept', async () => {
  const api = await setUp([]);

  const fresh = await api.ask('/');
  const kept = await api.ask('/', { headers: { 'x-request-id': 'My.id-1' } });
  const replaced = await api.ask('/', { headers: { 'x-request-id': 'a b"c' } });

  expect(fresh.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  expect(kept.headers.get('x-request-id')).toBe('My.id-1');
  expect(replaced.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
});

test('a valid traceparent is continued, an invalid one starts a new trace', async () => {
  const seen: string[] = [];
  const api = await setUp([
    route({
      method: 'GET',
      path: '/x',
      access: 'open',
      summary: 'X',
      tag: 'X',
      reply: { status: 204 },
      handle: async ({ traceparent }) => {
        seen.push(traceparent);
        return undefined;
      },
    }),
  ]);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

  await api.ask('/x', { headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } });
  await api.ask('/x', { headers: { traceparent: 'garbage' } });

  expect(seen[0]).toMatch(new RegExp(`^00-${traceId}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`));
  expect(seen[1]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
});

const crossOrigin = () =>
  route({
    method: 'POST',
    path: '/open',
    access: 'api_key_or_public',
    summary: 'X',
    tag: 'X',
    body: Type.Object({}),
    isCrossOrigin: true,
    reply: { status: 204 },
    handle: async () => undefined,
  });

test('a preflight of a cross-origin route allows the headers that the page wants to send', async () => {
  const api = await setUp([crossOrigin()]);

  const reply = await fetch(`${api.baseUrl}/open`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://a.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-sdk',
    },
  });

  expect(reply.status).toBe(204);
  expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  expect(reply.headers.get('access-control-allow-methods')).toContain('POST');
  expect(reply.headers.get('access-control-allow-headers')).toBe('authorization,content-type,x-sdk');
  expect(Number(reply.headers.get('access-control-max-age'))).toBeGreaterThan(0);
});

test('refusals of a cross-origin route can be read by the page, too; other routes stay closed', async () => {
  const api = await setUp([crossOrigin(), throwing(new Error('x'))]);
  const headers = { origin: 'https://a.example' };

  const unsupported = await fetch(`${api.baseUrl}/open`, { method: 'POST', headers });
  const wrongMethod = await fetch(`${api.baseUrl}/open`, { method: 'PUT', headers });
  const closed = await fetch(`${api.baseUrl}/x`, { headers });

  expect([unsupported.status, wrongMethod.status, closed.status]).toEqual([415, 405, 500]);
  expect(unsupported.headers.get('access-control-allow-origin')).toBe('*');
  expect(wrongMethod.headers.get('access-control-allow-origin')).toBe('*');
  expect(closed.headers.get('access-control-allow-origin')).toBeNull();
});

test('a preflight of another route is refused by silence', async () => {
  const api = await setUp([throwing(new Error('x'))]);

  const reply = await fetch(`${api.baseUrl}/x`, {
    method: 'OPTIONS',
    headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
  });

  expect(reply.headers.get('access-control-allow-origin')).toBeNull();
});

test('the address of a caller is believed from a proxy only as far as proxies are trusted', async () => {
  const seen: string[] = [];
  const whoIsIt = () =>
    route({
      method: 'GET',
      path: '/x',
      access: 'api_key_or_public',
      summary: 'X',
      tag: 'X',
      reply: { status: 204 },
      handle: async ({ caller }) => {
        if (caller.kind === 'anonymous') seen.push(caller.clientIp);
        return undefined;
      },
    });
  const headers = { 'x-forwarded-for': '6.6.6.6, 9.9.9.9' };

  const direct = await setUp([whoIsIt()]);
  await fetch(`${direct.baseUrl}/x`, { headers });
  const behindOne = await setUp([whoIsIt()], { trustedProxyHops: 1 });
  await fetch(`${behindOne.baseUrl}/x`, { headers });

  expect(seen).toEqual(['127.0.0.1', '9.9.9.9']);
});

test('the handler learns that its client went away', async () => {
  let entered = () => {};
  const isEntered = new Promise<void>((resolve) => {
    entered = resolve;
  });
  let aborted = () => {};
  const isAborted = new Promise<void>((resolve) => {
    aborted = resolve;
  });
  const api = await setUp([
    route({
      method: 'GET',
      path: '/x',
      access: 'open',
      summary: 'X',
      tag: 'X',
      reply: { status: 204 },
      handle: async ({ signal }) => {
        signal.addEventListener('abort', () => aborted());
        entered();
        await isAborted;
        return undefined;
      },
    }),
  ]);
  const client = get(`${api.baseUrl}/x`).on('error', () => {});

  await isEntered;
  client.destroy();

  await isAborted;
});

test('a path whose placeholders the schema lacks stops the start', () => {
  const bad = { ...throwing(null), path: '/x/{id}' };
  const deps = {} as Parameters<typeof bindRoutes>[1];

  expect(() => bindRoutes([bad], deps)).toThrow('GET /x/{id}');
});

test('two routes for one method and path stop the start', () => {
  const deps = {} as Parameters<typeof bindRoutes>[1];

  expect(() => bindRoutes([throwing(1), throwing(2)], deps)).toThrow('two routes for GET /x');
});

test('healthz is up while readyz follows the dependencies', async () => {
  let isDown = false;
  const api = await setUp(
    healthRoutes({
      clock: systemClock,
      dependencies: {
        store: async () => {
          if (isDown) throw new StoreUnavailable();
        },
      },
    }),
  );

  expect((await api.ask('/readyz')).status).toBe(200);
  isDown = true;
  const notReady = await api.ask('/readyz');

  expect(notReady.status).toBe(503);
  expect(await notReady.json()).toEqual({ status: 503, message: 'Not ready: store', reason: null });
  expect((await api.ask('/healthz')).status).toBe(200);
});

test('request durations are counted by route template, never by path', async () => {
  const api = await setUp([answering(Type.Object({}), {})]);
  await api.ask('/x?secret=1');
  await api.ask('/unknown/path');
  const listener = createMetricsListener(api.metrics.registry, silentLogger);
  const admin = createHttpServer(listener, { host: '127.0.0.1', port: 0, setting: 'X', clock: systemClock });
  const port = await admin.start();
  onTestFinished(() => admin.stop());

  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

  expect(text).toContain(
    'parley_http_request_duration_seconds_count{method="GET",route="/x",status="200"} 1',
  );
  expect(text).toContain('route="unmatched",status="404"');
  expect(text).not.toContain('secret');
  expect(text).not.toContain('/unknown');
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
});

test('a port that is taken is one clear error', async () => {
  const api = await setUp([]);
  const second = createHttpServer(() => {}, {
    host: '127.0.0.1',
    port: api.port,
    setting: 'PARLEY_PORT',
    clock: systemClock,
  });

  await expect(second.start()).rejects.toThrow(
    `127.0.0.1:${api.port} is already in use; choose another with PARLEY_PORT`,
  );
});
