import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { openSocketServer } from '../../media-worker/ingress/open-socket-server.ts';
import {
  type HttpRoute,
  PortTaken,
  type ServerSocket,
  type SocketRoute,
  type SocketServer,
  type TlsFiles,
} from '../../media-worker/ingress/socket-server.ts';
import { Failure } from '../../shared/errors.ts';

const opened: SocketServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

interface SetUp {
  readonly http?: readonly HttpRoute[];
  readonly sockets?: readonly SocketRoute[];
  readonly port?: number;
  readonly tls?: TlsFiles;
}

describe.each(['uws', 'node'] as const)('the socket server on %s', (implementation) => {
  async function setUp({ http = [], sockets = [], port = 0, tls }: SetUp) {
    const reported: unknown[] = [];
    const server = await openSocketServer({
      settings: { implementation, host: '127.0.0.1', port, tls: tls ?? null },
      http,
      sockets,
      headersFor: () => ({ 'x-every-reply': 'yes' }),
      report: (error) => reported.push(error),
    });
    opened.push(server);
    return { server, reported, at: `127.0.0.1:${server.port}` };
  }

  test('hands over method, path, query, parameters, headers and the client address', async () => {
    let seen: unknown;
    const { at } = await setUp({
      http: [
        httpRoute('GET', '/calls/:id/parts/:part', async (request) => {
          const { method, path, params, clientIp } = request;
          seen = { method, path, params, clientIp, q: request.query.get('q'), h: request.header('x-thing') };
          return { status: 200, headers: { 'x-own': '1' }, body: 'fine' };
        }),
      ],
    });

    const reply = await fetch(`http://${at}/calls/a%20b/parts/7?q=x%26y`, { headers: { 'X-Thing': 'T' } });

    expect(await reply.text()).toBe('fine');
    expect(reply.headers.get('x-own')).toBe('1');
    expect(reply.headers.get('x-every-reply')).toBe('yes');
    expect(seen).toEqual({
      method: 'GET',
      path: '/calls/a%20b/parts/7',
      params: { id: 'a b', part: '7' },
      clientIp: '127.0.0.1',
      q: 'x&y',
      h: 'T',
    });
  });

  test('an unknown path is 404 and a wrong method 405 with Allow, both with the common headers', async () => {
    const { at } = await setUp({ http: [httpRoute('POST', '/thing', async () => ({ status: 200 }))] });

    const unknown = await fetch(`http://${at}/nothing`);
    const wrong = await fetch(`http://${at}/thing`);
    const options = await fetch(`http://${at}/thing`, { method: 'OPTIONS' });

    expect([unknown.status, unknown.headers.get('x-every-reply')]).toEqual([404, 'yes']);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await wrong.json()).toEqual({ status: 405, message: 'Method not allowed', reason: null });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'POST']);
  });

  test('a failure becomes its reply; any other error a bare 500 that is reported', async () => {
    const { at, reported } = await setUp({
      http: [
        httpRoute('GET', '/full', async () => {
          throw new Failure('unavailable', 'Full', { reason: 'full', retryAfterS: 7 });
        }),
        httpRoute('GET', '/broken', async () => {
          throw new Error('secret detail');
        }),
      ],
    });

    const full = await fetch(`http://${at}/full`);
    const broken = await fetch(`http://${at}/broken`);

    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '7']);
    expect(await full.json()).toEqual({ status: 503, message: 'Full', reason: 'full' });
    expect(await broken.text()).not.toContain('secret');
    expect(broken.status).toBe(500);
    expect(reported).toHaveLength(1);
  });

  test('a body under the limit arrives whole, one over it is 413', async () => {
    const { at } = await setUp({
      http: [
        httpRoute('POST', '/body', async (request) => {
          const body = await request.readBody();
          return { status: 200, body: String(body.reduce((sum, byte) => sum + byte, 0)) };
        }),
      ],
    });

    const whole = await fetch(`http://${at}/body`, { method: 'POST', body: new Uint8Array(60_000).fill(1) });
    const empty = await fetch(`http://${at}/body`, { method: 'POST' });
    const tooLarge = await fetch(`http://${at}/body`, { method: 'POST', body: new Uint8Array(70_000) });

    expect(await whole.text()).toBe('60000');
    expect(await empty.text()).toBe('0');
    expect(tooLarge.status).toBe(413);
  });

  test('a large body reaches a slow reader whole', async () => {
    const { at } = await setUp({
      http: [
        httpRoute(
          'POST',
          '/slow',
          async (request) => {
            let bytes = 0;
            for await (const chunk of request.body()) {
              bytes += chunk.byteLength;
              await new Promise((resolve) => setImmediate(resolve));
            }
            return { status: 200, body: String(bytes) };
          },
          10_000_000,
        ),
      ],
    });

    const reply = await fetch(`http://${at}/slow`, { method: 'POST', body: new Uint8Array(5_000_000) });

    expect(await reply.text()).toBe('5000000');
  });

  test('a streamed reply arrives in pieces, whole and only as fast as it is read', async () => {
    let made = 0;
    const { at } = await setUp({
      http: [
        httpRoute('GET', '/stream', async () => ({
          status: 200,
          headers: { 'content-type': 'audio/pcm' },
          body: (async function* () {
            for (; made < 400; made++) yield new Uint8Array(100_000).fill(made % 251);
          })(),
        })),
      ],
    });

    const reply = await fetch(`http://${at}/stream`);
    const reader = reply.body?.getReader();
    await reader?.read();
    await new Promise((resolve) => setTimeout(resolve, 150));
    const madeWhileIdle = made;
    let bytes = 0;
    for (;;) {
      const part = await reader?.read();
      if (!part || part.done) break;
      bytes += part.value.byteLength;
    }

    expect(madeWhileIdle).toBeLessThan(300);
    expect(made).toBe(400);
    expect(bytes).toBeGreaterThan(39_000_000);
  });

  test('a client that goes ends the stream it was reading', async () => {
    let ended: () => void = () => {};
    const hasEnded = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const { at } = await setUp({
      http: [
        httpRoute('GET', '/endless', async (request) => ({
          status: 200,
          body: (async function* () {
            try {
              while (!request.signal.aborted) {
                yield new Uint8Array(10_000);
                await new Promise((resolve) => setTimeout(resolve, 1));
              }
            } finally {
              ended();
            }
          })(),
        })),
      ],
    });
    const client = new AbortController();

    const reply = await fetch(`http://${at}/endless`, { signal: client.signal });
    await reply.body?.getReader().read();
    client.abort();

    await hasEnded;
  });

  test('a stream that breaks cuts the reply instead of ending it', async () => {
    const { at, reported } = await setUp({
      http: [
        httpRoute('GET', '/breaks', async () => ({
          status: 200,
          body: (async function* () {
            yield new Uint8Array(10);
            throw new Error('engine gone');
          })(),
        })),
      ],
    });

    const read = fetch(`http://${at}/breaks`).then((reply) => reply.arrayBuffer());

    await expect(read).rejects.toThrow();
    expect(reported).toHaveLength(1);
  });

  test('too many header bytes are refused', async () => {
    let calls = 0;
    const { at } = await setUp({
      http: [
        httpRoute('GET', '/x', async () => {
          calls += 1;
          return { status: 200 };
        }),
      ],
    });

    const status = await rawStatus(at, `GET /x HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`);

    expect(status).not.toBe(200);
    expect(calls).toBe(0);
  });

  test('messages go both ways, text and binary told apart', async () => {
    const { at } = await setUp({ sockets: [echoRoute()] });
    const client = await openClient(`ws://${at}/echo`);

    client.send('grüße');
    const text = await nextMessage(client);
    client.send(new Uint8Array([1, 2, 3]));
    const binary = await nextMessage(client);

    expect(text).toEqual({ data: Buffer.from('grüße'), isBinary: false });
    expect(binary).toEqual({ data: Buffer.from([1, 2, 3]), isBinary: true });
    client.close();
  });

  test("a message is the receiver's to keep", async () => {
    const kept: Uint8Array[] = [];
    const { at } = await setUp({
      sockets: [
        socketRoute('/keep', {
          onMessage: (socket, data) => {
            kept.push(data);
            if (kept.length === 200) socket.send('all');
          },
        }),
      ],
    });
    const client = await openClient(`ws://${at}/keep`);

    for (let i = 0; i < 200; i++) client.send(new Uint8Array(500).fill(i));
    await nextMessage(client);

    expect(kept.every((data, i) => data.length === 500 && data.every((byte) => byte === i))).toBe(true);
    client.close();
  });

  test('the route sees the query and may refuse before the upgrade, with the common headers', async () => {
    const { at } = await setUp({
      sockets: [
        {
          ...echoRoute(),
          path: '/door',
          accept: async (head) => {
            if (head.query.get('key') === 'late') await new Promise((resolve) => setTimeout(resolve, 20));
            if (head.query.get('key') === null) throw new Failure('invalid_token', 'Invalid token');
            if (head.query.get('key') === 'no') return { status: 404, body: 'no such room' };
            return { onOpen: (socket) => void socket.send('in'), onMessage: () => {} };
          },
        },
      ],
    });

    const refused = await upgradeStatus(`ws://${at}/door`);
    const missing = await upgradeStatus(`ws://${at}/door?key=no`);
    const late = new WebSocket(`ws://${at}/door?key=late`);

    expect(refused).toEqual({ status: 401, every: 'yes', body: expect.stringContaining('Invalid token') });
    expect(missing).toEqual({ status: 404, every: 'yes', body: 'no such room' });
    expect((await nextMessage(late)).data.toString()).toBe('in');
    late.close();
  });

  test('an upgrade of an unknown path is 404', async () => {
    const { at } = await setUp({ sockets: [echoRoute()] });

    expect((await upgradeStatus(`ws://${at}/other`)).status).toBe(404);
  });

  test('a client that goes before it is let in is not opened', async () => {
    let letIn: () => void = () => {};
    let wasAborted = false;
    let openCount = 0;
    const decided = new Promise<void>((resolve) => {
      letIn = resolve;
    });
    let asked: () => void = () => {};
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { at } = await setUp({
      sockets: [
        {
          ...echoRoute(),
          path: '/slow-door',
          accept: async (_head, signal) => {
            asked();
            await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
            wasAborted = signal.aborted;
            letIn();
            return { onOpen: () => openCount++, onMessage: () => {} };
          },
        },
      ],
    });

    const client = new WebSocket(`ws://${at}/slow-door`);
    client.on('error', () => {});
    await wasAsked;
    client.terminate();
    await decided;
    await new Promise((resolve) => setImmediate(resolve));

    expect([wasAborted, openCount]).toEqual([true, 0]);
  });

  test("the client's close is told once with its code and reason", async () => {
    const closes: unknown[] = [];
    let told: () => void = () => {};
    const isTold = new Promise<void>((resolve) => {
      told = resolve;
    });
    const { at } = await setUp({
      sockets: [
        socketRoute('/bye', {
          onMessage: () => {},
          onClose: (code, reason) => {
            closes.push([code, reason]);
            told();
          },
        }),
      ],
    });

    const client = await openClient(`ws://${at}/bye`);
    client.close(4001, 'done');
    await isTold;

    expect(closes).toEqual([[4001, 'done']]);
  });

  test("what was sent before the server's close still arrives, and a closed socket takes nothing", async () => {
    let server: ServerSocket | null = null;
    let after: unknown;
    let told: () => void = () => {};
    const isTold = new Promise<void>((resolve) => {
      told = resolve;
    });
    const { at } = await setUp({
      sockets: [
        socketRoute('/last', {
          onOpen: (socket) => {
            server = socket;
          },
          onMessage: (socket) => {
            socket.send('last words');
            socket.close(4002, 'over');
            socket.close(4003, 'again');
          },
          onClose: () => {
            after = [server?.send('ghost'), server?.bufferedBytes];
            server?.ping();
            server?.close();
            told();
          },
        }),
      ],
    });
    const client = await openClient(`ws://${at}/last`);
    const closed = new Promise((resolve) =>
      client.on('close', (code, reason) => resolve([code, String(reason)])),
    );

    client.send('?');
    const last = await nextMessage(client);

    expect(last.data.toString()).toBe('last words');
    expect(await closed).toEqual([4002, 'over']);
    await isTold;
    expect(after).toEqual(['dropped', 0]);
  });

  test('a message over the limit closes the socket', async () => {
    const { at } = await setUp({ sockets: [echoRoute()] });
    const client = await openClient(`ws://${at}/echo`);
    client.on('error', () => {});
    const closed = new Promise<void>((resolve) => client.on('close', () => resolve()));
    let echoed = false;
    client.on('message', () => {
      echoed = true;
    });

    client.send(new Uint8Array(20_000));
    await closed;

    expect(echoed).toBe(false);
  });

  test('a client that does not read is reported: queued first, then dropped; drained when it reads', async () => {
    const results = new Set<string>();
    let drained: () => void = () => {};
    const hasDrained = new Promise<void>((resolve) => {
      drained = resolve;
    });
    const { at } = await setUp({
      sockets: [
        socketRoute(
          '/flood',
          {
            onMessage: (socket) => {
              for (let i = 0; i < 2_000; i++) results.add(socket.send(new Uint8Array(10_000)));
            },
            onDrain: () => drained(),
          },
          { maxBufferedBytes: 1_000_000 },
        ),
      ],
    });
    const client = await openClient(`ws://${at}/flood`);

    client.pause();
    client.send('go');
    await expect.poll(() => results.has('dropped')).toBe(true);
    client.resume();
    await hasDrained;

    expect([...results].sort()).toEqual(['dropped', 'queued', 'sent']);
    client.close();
  });

  test('a ping is answered', async () => {
    let answered: () => void = () => {};
    const isAnswered = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const { at } = await setUp({
      sockets: [
        socketRoute('/ping', {
          onOpen: (socket) => socket.ping(),
          onMessage: () => {},
          onPong: () => answered(),
        }),
      ],
    });

    const client = await openClient(`ws://${at}/ping`);

    await isAnswered;
    client.close();
  });

  test('a handler that throws closes its socket and is reported; the server goes on', async () => {
    const { at, reported } = await setUp({
      sockets: [
        echoRoute(),
        socketRoute('/throws', {
          onMessage: () => {
            throw new Error('oops');
          },
        }),
      ],
    });
    const client = await openClient(`ws://${at}/throws`);
    const closed = new Promise((resolve) => client.on('close', resolve));

    client.send('x');

    expect(await closed).toBe(1011);
    expect(reported).toHaveLength(1);
    const other = await openClient(`ws://${at}/echo`);
    other.send('still here');
    expect((await nextMessage(other)).data.toString()).toBe('still here');
    other.close();
  });

  test('a certificate that is not there is a clear error', async () => {
    const tls = { certFile: '/nowhere/cert.pem', keyFile: '/nowhere/key.pem' };

    await expect(setUp({ tls })).rejects.toThrow(/cert\.pem/);
  });

  test('a taken port is a clear error', async () => {
    const { server } = await setUp({});

    await expect(setUp({ port: server.port })).rejects.toThrow(PortTaken);
  });

  test('closing cuts open sockets and frees the port', async () => {
    const { server, at } = await setUp({ sockets: [echoRoute()], port: await freePort() });
    const client = await openClient(`ws://${at}/echo`);
    client.on('error', () => {});
    const closed = new Promise<void>((resolve) => client.on('close', () => resolve()));

    await server.close();
    await server.close();

    await closed;
    await expect(setUp({ port: server.port })).resolves.toBeDefined();
  });

  test('serves HTTPS and WSS with a certificate', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-tls-'));
    const tls = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
      ...['-subj', '/CN=localhost', '-keyout', tls.keyFile, '-out', tls.certFile],
    ]);
    const { at } = await setUp({
      tls,
      http: [httpRoute('GET', '/secure', async () => ({ status: 200, body: 'safe' }))],
      sockets: [echoRoute()],
    });

    const body = await new Promise((resolve, reject) => {
      httpsRequest(`https://${at}/secure`, { rejectUnauthorized: false }, (reply) => {
        reply.on('data', (chunk) => resolve(String(chunk)));
      })
        .on('error', reject)
        .end();
    });
    const client = new WebSocket(`wss://${at}/echo`, { rejectUnauthorized: false });
    await new Promise((resolve, reject) => client.on('open', resolve).on('error', reject));
    client.send('hello');

    expect(body).toBe('safe');
    expect((await nextMessage(client)).data.toString()).toBe('hello');
    client.close();
    await rm(folder, { recursive: true });
  });
});

function httpRoute(
  method: string,
  path: string,
  handle: HttpRoute['handle'],
  maxBodyBytes = 65_536,
): HttpRoute {
  return { method, path, handle, maxBodyBytes };
}

function socketRoute(
  path: string,
  handlers: Awaited<ReturnType<SocketRoute['accept']>>,
  limits: Partial<SocketRoute> = {},
): SocketRoute {
  return {
    path,
    maxMessageBytes: 16_384,
    maxBufferedBytes: 1_048_576,
    idleTimeoutS: 60,
    accept: async () => handlers,
    ...limits,
  };
}

function echoRoute(): SocketRoute {
  return socketRoute('/echo', {
    onMessage: (socket, data, isText) => {
      socket.send(isText ? new TextDecoder().decode(data) : data);
    },
  });
}

async function openClient(url: string): Promise<WebSocket> {
  const client = new WebSocket(url);
  await new Promise((resolve, reject) => client.once('open', resolve).once('error', reject));
  return client;
}

function nextMessage(client: WebSocket): Promise<{ data: Buffer; isBinary: boolean }> {
  return new Promise((resolve) => {
    client.once('message', (data: Buffer, isBinary) => resolve({ data, isBinary }));
  });
}

/** What a refused upgrade says. */
function upgradeStatus(url: string): Promise<{ status: number; every: string | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const client = new WebSocket(url);
    client.on('open', () => reject(new Error('was let in')));
    client.on('error', () => {});
    client.on('unexpected-response', (_request, reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk) => chunks.push(chunk));
      reply.on('end', () => {
        resolve({
          status: reply.statusCode ?? 0,
          every: reply.headers['x-every-reply'] as string | undefined,
          body: Buffer.concat(chunks).toString(),
        });
      });
    });
  });
}

/** The status of a hand-written request; 0 when the server cut the connection without one. */
function rawStatus(at: string, request: string): Promise<number> {
  const [host, port] = at.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) }, () => socket.write(request));
    socket.on('data', (data) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1] ?? 0)));
    socket.on('close', () => resolve(0));
    socket.on('error', () => resolve(0));
  });
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
