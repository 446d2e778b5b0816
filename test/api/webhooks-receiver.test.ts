import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';
import { createWebhookDispatcher } from '../../control-plane/webhooks/webhook-dispatcher.ts';
import { createWebhookSender } from '../../control-plane/webhooks/webhook-sender.ts';
import { createWebhookStore } from '../../control-plane/webhooks/webhook-store.ts';
import { silentLogger } from '../../shared/log.ts';
import { createOutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import { eventually } from '../support/eventually.ts';
import { createFastClock } from '../support/fast-clock.ts';
import {
  accept,
  closeMidBody,
  ignore,
  isSignedBy,
  refuse,
  startWebhookReceiver,
  type Take,
} from '../support/webhook-receiver.ts';

const SPEED = 20;
/** Sockets and a busy machine, in the fast clock's time. */
const SLACK_MS = 4_000;
const SECRET = 'whsec: ünïcode & "quotes"';

async function setUp(takes: Readonly<Record<string, Take>>, options: { isOpened?: boolean } = {}) {
  const clock = createFastClock(SPEED);
  const receiver = await startWebhookReceiver(clock, takes);
  const rows = openEmbeddedStore({ file: ':memory:', synchronous: 'NORMAL' });
  const store = createWebhookStore(rows);
  await store.ensureIndexes();
  const outgoing = createOutgoingClient({
    resolve: async () => ['127.0.0.1'],
    allowHosts: options.isOpened === false ? [] : [receiver.host],
    clock,
  });
  const sender = createWebhookSender({ outgoing, openSecret: (_agentId, secret) => secret, clock });
  const dispatcher = createWebhookDispatcher({ store, sender, clock, log: silentLogger });
  const stopping = new AbortController();
  const running = dispatcher.run(stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    await receiver.stop();
    await running;
    await outgoing.close();
    await rows.close();
  });

  const body = JSON.stringify({ event: 'call.ended', metadata: { text: 'grüße, “quotes”, \u2028' } });

  /** Sends one event to each URL; answers the deliveries once all are settled. */
  async function deliver(urls: readonly string[], secret: string | null = SECRET) {
    await store.addBody('s', 2, body);
    for (const [endpoint, url] of urls.entries()) {
      const start = { sessionId: 's', workspaceId: 'w', agentId: 'a', endpoint, target: { url, secret } };
      await store.append(start, 2, 'call.ended', clock.nowMs());
    }
    dispatcher.poke();
    return eventually('every delivery is settled', 15_000, async () => {
      const lanes = await store.listOfSession('s', 'w');
      const deliveries = lanes.flatMap((lane) => Object.values(lane.deliveries));
      return deliveries.every(({ status }) => status !== 'pending') ? deliveries : null;
    });
  }
  return { receiver, deliver, body };
}

/** Times between attempts, in the fast clock's ms. */
const gaps = (webhooks: readonly { atMs: number }[]) =>
  webhooks.slice(1).map(({ atMs }, i) => atMs - (webhooks[i]?.atMs ?? 0));

function expectGaps(webhooks: readonly { atMs: number }[], wanted: readonly number[]): void {
  const found = gaps(webhooks);
  expect(found).toHaveLength(wanted.length);
  for (const [i, gapMs] of found.entries()) {
    // The receiver's clock is read after its side of the socket; the gap may look a little shorter.
    expect(gapMs).toBeGreaterThan((wanted[i] ?? 0) - 500);
    expect(gapMs).toBeLessThan((wanted[i] ?? 0) + SLACK_MS);
  }
}

test('a receiver that answers 200 gets one request, signed over its raw bytes', async () => {
  const { receiver, deliver, body } = await setUp({});
  const [delivery] = await deliver([receiver.url('/ok')]);

  const [webhook, ...more] = receiver.received;
  if (!webhook) throw new Error('nothing arrived');
  expect(more).toEqual([]);
  expect(webhook.body.toString()).toBe(body);
  expect(webhook.headers['content-type']).toBe('application/json');
  expect(isSignedBy(SECRET, webhook)).toBe(true);
  expect(isSignedBy(`${SECRET}.`, webhook)).toBe(false);
  expect(isSignedBy(SECRET, { ...webhook, body: Buffer.concat([webhook.body, Buffer.from(' ')]) })).toBe(
    false,
  );
  expect(delivery?.attempts).toMatchObject([{ statusCode: 200, excerpt: 'ok', error: null }]);
});

test('500 three times: attempts after 1 s and 5 s, the same bytes, each signed afresh', async () => {
  const { receiver, deliver, body } = await setUp({ '/down': refuse });
  const [delivery] = await deliver([receiver.url('/down')]);

  const webhooks = receiver.at('/down');
  expectGaps(webhooks, [1_000, 5_000]);
  expect(webhooks.map((webhook) => webhook.body.toString())).toEqual([body, body, body]);
  for (const webhook of webhooks) expect(isSignedBy(SECRET, webhook)).toBe(true);
  const signatures = webhooks.map(({ headers }) => headers['x-service-webhook-signature']);
  expect(new Set(signatures).size).toBe(3);
  expect(delivery).toMatchObject({ status: 'dropped', failures: 3 });
  expect(delivery?.attempts[0]).toMatchObject({ statusCode: 500, excerpt: 'down for maintenance' });
});

test('200 after a retry ends the delivery', async () => {
  const { receiver, deliver } = await setUp({
    '/flaky': (reply, nth, webhook) => (nth === 0 ? refuse : accept)(reply, nth, webhook),
  });
  const [delivery] = await deliver([receiver.url('/flaky')]);

  expectGaps(receiver.at('/flaky'), [1_000]);
  expect(delivery).toMatchObject({ status: 'delivered', failures: 1 });
});

test('a receiver that never answers is given 10 s each time', async () => {
  const { receiver, deliver } = await setUp({ '/silent': ignore });
  const [delivery] = await deliver([receiver.url('/silent')]);

  expectGaps(receiver.at('/silent'), [11_000, 15_000]);
  expect(delivery).toMatchObject({ status: 'dropped' });
  expect(delivery?.attempts[0]).toMatchObject({ statusCode: null, error: 'Request timed out' });
});

test('a receiver that is slow, but in time, succeeds', async () => {
  const { receiver, deliver } = await setUp({
    '/slow': (reply) => void setTimeout(() => reply.writeHead(202).end(), 4_000 / SPEED),
  });
  const [delivery] = await deliver([receiver.url('/slow')]);

  expect(receiver.at('/slow')).toHaveLength(1);
  expect(delivery).toMatchObject({ status: 'delivered' });
  expect(delivery?.attempts[0]?.latencyMs).toBeGreaterThan(3_500);
});

test('a receiver that closes in the middle of its answer has not answered', async () => {
  const { receiver, deliver } = await setUp({ '/broken': closeMidBody });
  const [delivery] = await deliver([receiver.url('/broken')]);

  expectGaps(receiver.at('/broken'), [1_000, 5_000]);
  expect(delivery?.attempts[2]).toMatchObject({ statusCode: null, error: 'Connection failed' });
});

test.each([302, 307])('a redirect (%i) is not followed: it is an answer that is not 2xx', async (status) => {
  const { receiver, deliver } = await setUp({
    '/moved': (reply) => reply.writeHead(status, { location: '/elsewhere' }).end(),
  });
  const [delivery] = await deliver([receiver.url('/moved')]);

  expect(receiver.at('/moved')).toHaveLength(3);
  expect(receiver.at('/elsewhere')).toEqual([]);
  expect(delivery?.attempts[0]).toMatchObject({ statusCode: status });
});

test('a long answer is read to its first 512 bytes, whole characters', async () => {
  const { receiver, deliver } = await setUp({
    '/long': (reply) => reply.writeHead(200).end(`a${'é'.repeat(100_000)}`),
  });
  const [delivery] = await deliver([receiver.url('/long')]);

  expect(delivery).toMatchObject({ status: 'delivered' });
  expect(delivery?.attempts[0]?.excerpt).toBe(`a${'é'.repeat(255)}`);
});

test('a port where nobody listens is a failed attempt each time', async () => {
  const { deliver } = await setUp({});
  const port = await closedPort();
  const [delivery] = await deliver([`http://127.0.0.1:${port}/`]);
  expect(delivery).toMatchObject({ status: 'dropped', failures: 3 });
});

test('a private address is never reached, at any attempt', async () => {
  const { receiver, deliver } = await setUp({}, { isOpened: false });
  const [first, second] = await deliver([receiver.url('/in'), 'http://rebound.example/in']);

  expect(receiver.received).toEqual([]);
  for (const delivery of [first, second]) {
    expect(delivery).toMatchObject({ status: 'dropped' });
  }
  expect(first?.attempts[0]?.error).toBe('URL must point to a public address');
});

test('one dead endpoint holds up none of the others', async () => {
  const { receiver, deliver } = await setUp({ '/silent': ignore, '/down': refuse });
  await deliver(['/silent', '/a', '/down', '/b', '/c'].map(receiver.url));

  const silent = receiver.at('/silent')[0]?.atMs ?? 0;
  for (const path of ['/a', '/b', '/c']) {
    expect(receiver.at(path)).toHaveLength(1);
    expect((receiver.at(path)[0]?.atMs ?? 0) - silent).toBeLessThan(SLACK_MS);
  }
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
