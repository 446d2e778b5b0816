import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { WorkerStatus } from '../../control-plane/coordination/coordination.ts';
import { ignoreUpgrade } from '../../control-plane/http/plain-upgrade.ts';
import { createSpeechForwarding } from '../../control-plane/speech/speech-forwarding.ts';
import { rankWorkers } from '../../control-plane/speech/worker-choice.ts';
import { silentLogger } from '../../shared/log.ts';
import { LiveClient } from '../support/live-client.ts';
import { freePort } from '../support/parley.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function workerAt(publicUrl: string, more: Partial<WorkerStatus> = {}): WorkerStatus {
  return {
    workerId: publicUrl,
    publicUrl,
    capacity: 40,
    occupied: 0,
    isDraining: false,
    eventLoopDelayP99Ms: 0,
    tickerLatenessP99Ms: 0,
    sessionIds: [],
    ...more,
  };
}

async function startFront(workers: readonly WorkerStatus[]): Promise<string> {
  const forwarding = createSpeechForwarding({ workers: () => workers, random: () => 0, log: silentLogger });
  const rest: RequestListener = (_req, res) => res.end('the control plane');
  const server = createServer(forwarding.before(rest));
  server.on('upgrade', forwarding.upgradeBefore(ignoreUpgrade(rest)));
  const url = await listen(server);
  closing.push(async () => {
    forwarding.cutSockets();
    forwarding.close();
  });
  return url;
}

test('method, target, headers and body reach the worker as they came, and its reply comes back so', async () => {
  const seen: { req: IncomingMessage; body: string }[] = [];
  const worker = await listen(
    createServer((req, res) => {
      let body = '';
      req.on('data', (chunk) => (body += chunk));
      req.on('end', () => {
        seen.push({ req, body });
        res.writeHead(402, { 'Content-Type': 'x/y', 'X-Own': 'a' }).end('poor');
      });
    }),
  );
  const front = await startFront([workerAt(worker)]);

  const reply = await fetch(`${front}/v1/tts/stream/with-timestamp?x=1`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer k',
      model: 's1',
      traceparent: 'tp',
      'content-type': 'application/msgpack',
    },
    body: 'bytes',
  });

  expect([reply.status, reply.headers.get('x-own'), await reply.text()]).toEqual([402, 'a', 'poor']);
  expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  const [{ req, body } = { req: null, body: '' }] = seen;
  expect([req?.method, req?.url, body]).toEqual(['POST', '/v1/tts/stream/with-timestamp?x=1', 'bytes']);
  expect(req?.headers).toMatchObject({ authorization: 'Bearer k', model: 's1', traceparent: 'tp' });
  expect(req?.headers['x-request-id']).toBe(reply.headers.get('x-request-id'));
});

test('both directions flow at once: each chunk is answered before the next is sent', async () => {
  const worker = await listen(
    createServer((req, res) => {
      req.on('data', (chunk: Buffer) => res.write(`echo ${chunk}`));
      req.on('end', () => res.end());
    }),
  );
  const front = new URL(await startFront([workerAt(worker)]));
  const req = httpRequest({ hostname: front.hostname, port: front.port, method: 'POST', path: '/v1/asr' });
  const heard: string[] = [];
  const answered = new Promise<IncomingMessage>((resolve) => req.on('response', resolve));

  req.write('one');
  const reply = await answered;
  const next = () => new Promise<string>((resolve) => reply.once('data', (chunk) => resolve(String(chunk))));
  heard.push(await next());
  req.write('two');
  heard.push(await next());
  req.end();
  await new Promise((resolve) => reply.once('end', resolve).resume());

  expect(heard).toEqual(['echo one', 'echo two']);
});

test('a client that leaves is gone for the worker, too', async () => {
  const gone = new Promise<void>((resolve) => {
    void listen(
      createServer((_req, res) => {
        res.write('first');
        res.on('close', () => resolve());
      }),
    ).then(async (worker) => {
      const front = await startFront([workerAt(worker)]);
      const leave = new AbortController();
      const reply = await fetch(`${front}/v1/tts`, { method: 'POST', body: 'x', signal: leave.signal });
      await reply.body?.getReader().read();
      leave.abort();
    });
  });

  await gone;
});

test('a reply that the worker cuts short is cut short for the client', async () => {
  const worker = await listen(
    createServer((_req, res) => {
      res.write('half');
      setImmediate(() => res.destroy());
    }),
  );
  const front = await startFront([workerAt(worker)]);

  const reply = await fetch(`${front}/v1/tts`, { method: 'POST', body: 'x' });

  await expect(reply.text()).rejects.toThrow();
});

test('a worker that can not be reached is passed over, body and all', async () => {
  const worker = await listen(
    createServer((req, res) => {
      req.pipe(res);
    }),
  );
  const dead = `http://127.0.0.1:${await freePort()}`;
  const front = await startFront([workerAt(dead), workerAt(worker)]);

  const reply = await fetch(`${front}/v1/tts`, { method: 'POST', body: 'the whole body' });

  expect([reply.status, await reply.text()]).toEqual([200, 'the whole body']);
});

test('without a worker it is 503 with Retry-After, for requests and for sockets', async () => {
  const front = await startFront([]);

  const reply = await fetch(`${front}/v1/tts`, { method: 'POST', body: 'x' });

  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await reply.json()).toEqual({
    status: 503,
    message: 'Service temporarily unavailable',
    reason: null,
  });
  await expect(LiveClient.open(`${front}/v1/tts/live`, {})).rejects.toThrow('status 503');
});

test('an upgraded socket passes messages, pings and the close on, both ways', async () => {
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  const headers: unknown[] = [];
  sockets.on('connection', (socket, req) => {
    headers.push(req.headers.authorization, req.url);
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    socket.on('ping', () => socket.close(4000, 'pinged'));
  });
  const front = await startFront([workerAt(await listen(server))]);
  const client = await LiveClient.open(`${front}/v1/tts/live?a=1`, { authorization: 'Bearer k' });

  client.say({ event: 'big', audio: new Uint8Array(300_000) });
  await client.until('the echo', () => client.events.length === 1);
  client.socket.ping();
  await client.until('the close', () => client.closed !== null);

  expect(client.events[0]?.audio?.length).toBe(300_000);
  expect(client.closed).toEqual({ code: 4000, reason: 'pinged' });
  expect(headers).toEqual(['Bearer k', '/v1/tts/live?a=1']);
});

test('other paths stay where they are, whatever protocol they ask for', async () => {
  const front = new URL(await startFront([]));
  const ask = (headers: Record<string, string>) =>
    new Promise<string>((resolve, reject) => {
      httpRequest({ hostname: front.hostname, port: front.port, path: '/v1/tts-other', headers })
        .on('response', (reply) => {
          let text = '';
          reply.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text));
        })
        .on('error', reject)
        .end();
    });

  expect(await ask({})).toBe('the control plane');
  expect(await ask({ connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' })).toBe('the control plane');
});

test('workers with more room come sooner, draining ones never, full ones last', () => {
  const roomy = workerAt('roomy');
  const busy = workerAt('busy', { occupied: 30 });
  const full = workerAt('full', { occupied: 40 });
  const draining = workerAt('draining', { isDraining: true });
  let step = 0;

  const firsts = Array.from({ length: 1_000 }, () =>
    rankWorkers([busy, draining, full, roomy], () => (step++ % 997) / 997).map((w) => w.workerId),
  );

  const share = (id: string) => firsts.filter(([first]) => first === id).length / firsts.length;
  expect(share('roomy')).toBeGreaterThan(0.7);
  expect(share('busy')).toBeGreaterThan(0.1);
  expect(firsts.every((ids) => ids.length === 3 && !ids.includes('draining'))).toBe(true);
});
