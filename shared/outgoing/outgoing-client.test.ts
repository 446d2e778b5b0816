import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import type { ResolveHost } from './guarded-lookup.ts';
import { createOutgoingClient, type OutgoingClient, type OutgoingClientDeps } from './outgoing-client.ts';
import { OutgoingError } from './outgoing-error.ts';

const PUBLIC = '93.184.216.34';
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(listener: RequestListener): Promise<{ port: number; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    seen.push(req);
    listener(req, res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

function createClient(deps: Partial<OutgoingClientDeps> = {}): OutgoingClient {
  const client = createOutgoingClient({ resolve: async () => ['127.0.0.1'], ...deps });
  cleanups.push(client.close);
  return client;
}

const get = { method: 'GET', deadlineMs: 5_000, maxBytes: 65_536 } as const;

async function errorOf(work: Promise<unknown>): Promise<OutgoingError> {
  const error = await work.then(
    () => null,
    (e: unknown) => e,
  );
  if (!(error instanceof OutgoingError)) throw new Error(`expected an OutgoingError, got ${String(error)}`);
  return error;
}

test('an opened host is reached at the address the resolver gave, under its own name', async () => {
  const server = await serve((_req, res) => res.end('hello'));
  const client = createClient({ allowHosts: [`hooks.test:${server.port}`] });

  const response = await client.request({
    ...get,
    url: `http://hooks.test:${server.port}/a?b=1`,
    headers: { 'X-Key': 'k', Host: 'other.test', 'Content-Length': '99' },
  });

  expect(response).toMatchObject({ status: 200, isTruncated: false });
  expect(response.body.toString()).toBe('hello');
  expect(server.seen[0]?.url).toBe('/a?b=1');
  expect(server.seen[0]?.headers).toMatchObject({ host: `hooks.test:${server.port}`, 'x-key': 'k' });
  expect(server.seen[0]?.headers['content-length']).toBeUndefined();
});

test('a name that resolves to a private address is refused without a connection', async () => {
  const server = await serve((_req, res) => res.end('secret'));
  const client = createClient();

  const error = await errorOf(client.request({ ...get, url: `http://evil.example:${server.port}/` }));

  expect(error.code).toBe('forbidden_address');
  expect(server.seen).toHaveLength(0);
});

test('one private address among public ones is enough to refuse', async () => {
  const client = createClient({ resolve: async () => [PUBLIC, '10.0.0.1'] });

  expect((await errorOf(client.request({ ...get, url: 'http://mixed.example/' }))).code).toBe(
    'forbidden_address',
  );
});

test('a name that changes its answer after the check reaches nothing private', async () => {
  const server = await serve((_req, res) => res.end('secret'));
  const answers = [[PUBLIC], ['127.0.0.1']];
  const asked: string[] = [];
  const client = createClient({
    resolve: async (hostname) => {
      asked.push(hostname);
      return answers.shift() ?? ['127.0.0.1'];
    },
  });
  const url = `http://rebind.example:${server.port}/`;

  await client.checkUrl(url);
  const error = await errorOf(client.request({ ...get, url }));

  expect(error.code).toBe('forbidden_address');
  expect(asked).toEqual(['rebind.example', 'rebind.example']);
  expect(server.seen).toHaveLength(0);
});

test('one connection asks the resolver once, so the checked address is the one connected to', async () => {
  const server = await serve((req, res) => res.end(req.socket.localAddress));
  const answers = ['127.0.0.1', '127.0.0.2'];
  const resolve: ResolveHost = async () => [answers.shift() ?? '127.0.0.3'];
  const client = createClient({ resolve, allowHosts: [`pinned.test:${server.port}`] });

  const response = await client.request({ ...get, url: `http://pinned.test:${server.port}/` });

  expect(response.body.toString()).toBe('127.0.0.1');
  expect(answers).toEqual(['127.0.0.2']);
});

test('every redirect is checked again', async () => {
  const inner = await serve((_req, res) => res.end('secret'));
  const outer = await serve((req, res) => {
    const location =
      req.url === '/ip' ? `http://127.0.0.1:${inner.port}/` : `http://inner.example:${inner.port}/`;
    res.writeHead(302, { location }).end();
  });
  const client = createClient({ allowHosts: [`outer.test:${outer.port}`] });

  for (const path of ['ip', 'name']) {
    const error = await errorOf(client.request({ ...get, url: `http://outer.test:${outer.port}/${path}` }));
    expect(error.code).toBe('forbidden_address');
  }
  expect(inner.seen).toHaveLength(0);
});

test('a redirect to another scheme is refused', async () => {
  const server = await serve((_req, res) => res.writeHead(302, { location: 'file:///etc/passwd' }).end());
  const client = createClient({ allowHosts: [`a.test:${server.port}`] });

  const error = await errorOf(client.request({ ...get, url: `http://a.test:${server.port}/` }));

  expect(error.code).toBe('unsupported_scheme');
});

test('three redirects are followed, a fourth is refused, and none when none may be', async () => {
  const server = await serve((req, res) => {
    const left = Number(req.url?.slice(1));
    if (left === 0) res.end('done');
    else res.writeHead(307, { location: `/${left - 1}` }).end();
  });
  const client = createClient({ allowHosts: [`a.test:${server.port}`] });
  const url = (redirects: number) => `http://a.test:${server.port}/${redirects}`;

  expect((await client.request({ ...get, url: url(3) })).body.toString()).toBe('done');
  expect((await errorOf(client.request({ ...get, url: url(4) }))).code).toBe('too_many_redirects');
  expect((await client.request({ ...get, url: url(1), maxRedirects: 0 })).status).toBe(307);
});

test('another origin gets neither credentials nor headers of the user; the same origin does', async () => {
  const second = await serve((_req, res) => res.end('ok'));
  const first = await serve((req, res) => {
    const location = req.url === '/away' ? `http://b.test:${second.port}/` : '/end';
    if (req.url === '/end') res.end('ok');
    else res.writeHead(307, { location }).end();
  });
  const client = createClient({ allowHosts: [`a.test:${first.port}`, `b.test:${second.port}`] });
  const headers = { Authorization: 'Bearer s', Cookie: 'c=1', 'X-Api-Key': 'k', Accept: 'text/plain' };

  await client.request({ ...get, url: `http://a.test:${first.port}/away`, headers });
  await client.request({ ...get, url: `http://a.test:${first.port}/stay`, headers });

  const crossed = second.seen[0]?.headers ?? {};
  expect(crossed['accept']).toBe('text/plain');
  expect(crossed['authorization'] ?? crossed['cookie'] ?? crossed['x-api-key']).toBeUndefined();
  expect(first.seen.at(-1)).toMatchObject({ url: '/end' });
  expect(first.seen.at(-1)?.headers['authorization']).toBe('Bearer s');
});

test.each([
  [301, 'POST', 'GET'],
  [302, 'POST', 'GET'],
  [303, 'PUT', 'GET'],
  [307, 'POST', 'POST'],
  [308, 'PUT', 'PUT'],
] as const)('after %i a %s goes on as %s', async (status, method, expected) => {
  const got: string[] = [];
  const server = await serve((req, res) => {
    if (req.url === '/') {
      req.resume();
      res.writeHead(status, { location: '/next' }).end();
      return;
    }
    req.setEncoding('utf8').on('data', (text: string) => got.push(text));
    req.on('end', () => res.end());
  });
  const client = createClient({ allowHosts: [`a.test:${server.port}`] });

  await client.request({ ...get, method, url: `http://a.test:${server.port}/`, body: 'data' });

  expect(server.seen[1]?.method).toBe(expected);
  expect(got.join('')).toBe(expected === 'GET' ? '' : 'data');
});

test('a longer body is cut at the bound and marked', async () => {
  const server = await serve((_req, res) => res.end(Buffer.alloc(200_000, 'a')));
  const client = createClient({ allowHosts: [`a.test:${server.port}`] });
  const url = `http://a.test:${server.port}/`;

  const cut = await client.request({ ...get, url, maxBytes: 1_000 });
  const whole = await client.request({ ...get, url, maxBytes: 200_000 });

  expect([cut.body.length, cut.isTruncated]).toEqual([1_000, true]);
  expect([whole.body.length, whole.isTruncated]).toEqual([200_000, false]);
});

test.each([
  ['before the headers', 'silent'],
  ['within the body', 'stalled'],
])('the deadline ends a request %s', async (_when, path) => {
  const clock = new FakeClock();
  const server = await serve((req, res) => {
    if (req.url === '/stalled') res.write('some');
  });
  const client = createClient({ clock, allowHosts: [`a.test:${server.port}`] });

  const failed = errorOf(client.request({ ...get, url: `http://a.test:${server.port}/${path}` }));
  await expect.poll(() => server.seen.length).toBe(1);
  await clock.advance(5_000);

  expect((await failed).code).toBe('timed_out');
});

test('a resolver that never answers does not outlast the deadline', async () => {
  const clock = new FakeClock();
  const client = createClient({ clock, resolve: () => new Promise(() => {}) });

  const failed = [
    errorOf(client.request({ ...get, url: 'http://slow.example/' })),
    errorOf(client.checkUrl('http://slow.example/')),
  ];
  await clock.advance(5_000);

  expect((await Promise.all(failed)).map((e) => e.code)).toEqual(['timed_out', 'timed_out']);
});

test('the caller can cancel', async () => {
  const server = await serve(() => {});
  const client = createClient({ allowHosts: [`a.test:${server.port}`] });
  const cancel = new AbortController();

  const failed = errorOf(
    client.request({ ...get, url: `http://a.test:${server.port}/`, signal: cancel.signal }),
  );
  await expect.poll(() => server.seen.length).toBe(1);
  cancel.abort();

  expect((await failed).code).toBe('aborted');
});

test('a stream gives pieces as they come, and leaving it frees the connection', async () => {
  let isClosed = false;
  const server = await serve((req, res) => {
    res.write('data: one\n\n');
    req.socket.on('close', () => {
      isClosed = true;
    });
  });
  const client = createClient({ allowHosts: [`a.test:${server.port}`] });

  const reply = await client.stream({ ...get, url: `http://a.test:${server.port}/`, idleMs: 1_000 });
  for await (const piece of reply.body) {
    expect(Buffer.from(piece).toString()).toBe('data: one\n\n');
    break;
  }

  expect(reply.status).toBe(200);
  await expect.poll(() => isClosed).toBe(true);
});

test('a stream fails past its bytes, in silence, when closed and when cancelled', async () => {
  const clock = new FakeClock();
  const server = await serve((_req, res) => res.write('x'.repeat(100)));
  const client = createClient({ clock, allowHosts: [`a.test:${server.port}`] });
  const cancel = new AbortController();
  const open = (maxBytes: number) =>
    client.stream({
      ...get,
      maxBytes,
      url: `http://a.test:${server.port}/`,
      idleMs: 800,
      signal: cancel.signal,
    });
  const drain = async (body: AsyncIterable<Uint8Array>) => {
    for await (const _piece of body);
  };

  expect((await errorOf(drain((await open(99)).body))).code).toBe('too_large');

  const silent = errorOf(drain((await open(100)).body));
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(800);
  expect((await silent).code).toBe('timed_out');

  const closed = await open(100);
  const reading = errorOf(drain(closed.body));
  closed.close();
  expect((await reading).code).toBe('aborted');

  const cancelled = errorOf(drain((await open(100)).body));
  cancel.abort();
  expect((await cancelled).code).toBe('aborted');
});

test('the deadline of a stream counts until its headers only', async () => {
  const clock = new FakeClock();
  const finish: (() => void)[] = [];
  const server = await serve((_req, res) => {
    res.write('a');
    finish.push(() => res.end('b'));
  });
  const client = createClient({ clock, allowHosts: [`a.test:${server.port}`] });

  const reply = await client.stream({ ...get, url: `http://a.test:${server.port}/`, idleMs: 60_000 });
  await clock.advance(10_000);
  finish[0]?.();
  const pieces: string[] = [];
  for await (const piece of reply.body) pieces.push(Buffer.from(piece).toString());

  expect(pieces.join('')).toBe('ab');
});

test('headers that would break the message are refused', async () => {
  const client = createClient();
  const url = 'http://example.com/';

  for (const headers of [{ 'X-A': 'a\r\nX-B: b' }, { 'X A': 'a' }, { 'X-A': 'é€' }])
    expect((await errorOf(client.request({ ...get, url, headers }))).code).toBe('invalid_request');
});

test('no error names an address, a port or a host', async () => {
  const server = await serve((req) => req.socket.destroy());
  const closedPort = 1;
  const client = createClient({
    resolve: async (hostname) => (hostname.startsWith('gone') ? [] : ['127.0.0.1']),
    allowHosts: [`a.test:${server.port}`, `b.test:${closedPort}`],
  });
  const urls = [
    'http://gone.example/',
    'http://inner.example/',
    'http://169.254.169.254/',
    `http://a.test:${server.port}/`,
    `http://b.test:${closedPort}/`,
  ];

  for (const url of urls) {
    const error = await errorOf(client.request({ ...get, url }));
    expect(`${error.message} ${String(error.cause)}`).not.toMatch(/\d|example|test|ECONN|ENOTFOUND/);
  }
});

test('a URL passes the check when its host resolves to public addresses', async () => {
  const client = createClient({ resolve: async () => [PUBLIC, '2606:2800:220:1:248:1893:25c8:1946'] });

  await expect(client.checkUrl('https://example.com/hook')).resolves.toBeUndefined();
  expect((await errorOf(createClient({ resolve: async () => [] }).checkUrl('https://x.example/'))).code).toBe(
    'unresolvable',
  );
});
