import { createHmac } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import type { OutgoingRequest, OutgoingResponse } from '../../shared/outgoing/outgoing-client.ts';
import { OutgoingError } from '../../shared/outgoing/outgoing-error.ts';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { openEmbeddedStore } from '../storage/embedded-store.ts';
import { createWebhookDispatcher } from './webhook-dispatcher.ts';
import type { WebhookEventName } from './webhook-event.ts';
import { createWebhookSender } from './webhook-sender.ts';
import { createWebhookStore } from './webhook-store.ts';

interface Sent {
  readonly atMs: number;
  readonly url: string;
  readonly body: string;
  readonly signature: string | undefined;
}

/** How an endpoint takes its n-th request (from 0). */
type Endpoint = (nth: number, clock: FakeClock, signal?: AbortSignal) => Promise<number>;

const up: Endpoint = async () => 204;
const down: Endpoint = async () => 500;
const hangs: Endpoint = async (_nth, clock, signal) => {
  await clock.sleep(10_000, signal);
  throw new OutgoingError(signal?.aborted ? 'aborted' : 'timed_out');
};
const upFrom =
  (nth: number): Endpoint =>
  async (n) =>
    n < nth ? 500 : 200;

function answer(status: number): OutgoingResponse {
  return { status, headers: {}, body: Buffer.from('thanks'), isTruncated: false };
}

async function setUp(endpoints: Readonly<Record<string, Endpoint>>) {
  const clock = new FakeClock();
  const beginMs = clock.nowMs();
  const rows = openEmbeddedStore({ file: ':memory:', synchronous: 'NORMAL' });
  const store = createWebhookStore(rows);
  await store.ensureIndexes();
  const sent: Sent[] = [];
  const counts = new Map<string, number>();

  async function request(input: OutgoingRequest): Promise<OutgoingResponse> {
    const { url, body = '', headers = {} } = input;
    const nth = counts.get(url) ?? 0;
    counts.set(url, nth + 1);
    const signature = headers['X-Service-Webhook-Signature'];
    sent.push({ atMs: clock.nowMs() - beginMs, url, body: Buffer.from(body).toString(), signature });
    const take = endpoints[new URL(url).hostname] ?? up;
    return answer(await take(nth, clock, input.signal));
  }

  /** A process of its own; answers what stops it. */
  function startDispatcher(log = silentLogger) {
    const sender = createWebhookSender({ outgoing: { request }, openSecret: (_id, secret) => secret, clock });
    const dispatcher = createWebhookDispatcher({ store, sender, clock, log });
    const stopping = new AbortController();
    const running = dispatcher.run(stopping.signal);
    const stop = async () => {
      stopping.abort();
      await clock.advance(3_000);
      await running;
    };
    return { stop, dispatcher };
  }

  async function add(sessionId: string, seq: number, urls: readonly string[], secret: string | null = null) {
    const event: WebhookEventName = seq === 2 ? 'call.ended' : 'call.analyzed';
    await store.addBody(sessionId, seq, `${sessionId} ${event}`);
    for (const [endpoint, url] of urls.entries()) {
      const start = { sessionId, workspaceId: 'w', agentId: 'a', endpoint, target: { url, secret } };
      await store.append(start, seq, event, clock.nowMs());
    }
  }

  const { stop } = startDispatcher();
  onTestFinished(async () => {
    await stop();
    await rows.close();
  });
  const to = (host: string) => sent.filter(({ url }) => new URL(url).hostname === host);
  const statuses = async (sessionId: string) =>
    (await store.listOfSession(sessionId, 'w')).map((lane) =>
      Object.values(lane.deliveries).map((delivery) => delivery.status),
    );
  // The dispatcher has found nothing and rests.
  await clock.advance(0);
  return { clock, store, sent, to, add, statuses, stop, startDispatcher };
}

describe('attempts', () => {
  test('a failing endpoint is tried at 0 s, 1 s and 6 s, then the delivery is dropped', async () => {
    const { clock, add, to, statuses } = await setUp({ down });
    await add('s', 2, ['https://down/']);

    await clock.advance(120_000);

    const [first = 0, ...later] = to('down').map(({ atMs }) => atMs);
    expect(first).toBeLessThanOrEqual(1_000);
    expect(later).toEqual([first + 1_000, first + 6_000]);
    expect(await statuses('s')).toEqual([['dropped']]);
  });

  test('the backoff counts from the failure: a silent endpoint is tried at 0 s, 11 s and 26 s', async () => {
    const { clock, add, to, statuses } = await setUp({ hangs });
    await add('s', 2, ['https://hangs/']);

    await clock.advance(120_000);

    const [first = 0, ...later] = to('hangs').map(({ atMs }) => atMs);
    expect(later).toEqual([first + 11_000, first + 26_000]);
    expect(await statuses('s')).toEqual([['dropped']]);
  });

  test('a delivery ends with the first 2xx', async () => {
    const { clock, add, to, statuses } = await setUp({ flaky: upFrom(1) });
    await add('s', 2, ['https://flaky/']);

    await clock.advance(120_000);

    expect(to('flaky')).toHaveLength(2);
    expect(await statuses('s')).toEqual([['delivered']]);
  });

  test.each([301, 308, 404, 199])('an answer of %i is a failed attempt', async (status) => {
    const { clock, add, to } = await setUp({ odd: async () => status });
    await add('s', 2, ['https://odd/']);

    await clock.advance(60_000);

    expect(to('odd')).toHaveLength(3);
  });

  test('bodies of one delivery are identical, their signatures made for the moment of sending', async () => {
    const { clock, add, to } = await setUp({ down });
    await add('s', 2, ['https://down/'], 'whsec');

    await clock.advance(60_000);

    const sent = to('down');
    expect(new Set(sent.map(({ body }) => body))).toEqual(new Set(['s call.ended']));
    for (const { signature, atMs, body } of sent) {
      const t = Math.floor((1_750_000_000_000 + atMs) / 1000);
      const v1 = createHmac('sha256', 'whsec').update(`${t}.${body}`).digest('hex');
      expect(signature).toBe(`t=${t},v1=${v1}`);
    }
    expect(new Set(sent.map(({ signature }) => signature)).size).toBe(3);
  });

  test('an endpoint without a secret gets no signature', async () => {
    const { clock, add, to } = await setUp({});
    await add('s', 2, ['https://up/']);
    await clock.advance(2_000);
    expect(to('up').map(({ signature }) => signature)).toEqual([undefined]);
  });

  test('each attempt is kept with its status, latency and the first bytes of the answer', async () => {
    const slow: Endpoint = async (_nth, clock) => {
      await clock.sleep(1_234);
      return 503;
    };
    const { clock, add, store } = await setUp({ slow });
    await add('s', 2, ['https://slow/']);

    await clock.advance(60_000);

    const [lane] = await store.listOfSession('s', 'w');
    expect(lane?.deliveries['d2']?.attempts).toHaveLength(3);
    expect(lane?.deliveries['d2']?.attempts[0]).toMatchObject({
      statusCode: 503,
      latencyMs: 1_234,
      excerpt: 'thanks',
      error: null,
    });
  });
});

describe('order', () => {
  test('a later event waits until the earlier one has succeeded', async () => {
    const { clock, add, to } = await setUp({ flaky: upFrom(2) });
    await add('s', 2, ['https://flaky/']);
    await add('s', 3, ['https://flaky/']);

    await clock.advance(60_000);

    expect(to('flaky').map(({ body }) => body)).toEqual([
      's call.ended',
      's call.ended',
      's call.ended',
      's call.analyzed',
    ]);
  });

  test('a later event goes at once when the earlier one was dropped, with a budget of its own', async () => {
    const { clock, add, to, statuses } = await setUp({ down });
    await add('s', 2, ['https://down/']);
    await add('s', 3, ['https://down/']);

    await clock.advance(60_000);

    const sent = to('down');
    const [first = 0] = sent.map(({ atMs }) => atMs);
    expect(sent.map(({ atMs, body }) => [atMs - first, body])).toEqual([
      [0, 's call.ended'],
      [1_000, 's call.ended'],
      [6_000, 's call.ended'],
      [6_000, 's call.analyzed'],
      [7_000, 's call.analyzed'],
      [12_000, 's call.analyzed'],
    ]);
    expect(await statuses('s')).toEqual([['dropped', 'dropped']]);
  });

  test('an event that comes while an earlier one is being tried is neither forgotten nor early', async () => {
    const { clock, add, to } = await setUp({ hangs: async (n, c) => (n === 0 ? hangs(n, c) : 200) });
    await add('s', 2, ['https://hangs/']);
    await clock.advance(5_000);
    await add('s', 3, ['https://hangs/']);

    await clock.advance(60_000);

    expect(to('hangs').map(({ body }) => body)).toEqual(['s call.ended', 's call.ended', 's call.analyzed']);
  });

  test('endpoints of one session do not wait for each other', async () => {
    const { clock, add, to } = await setUp({ hangs });
    await add('s', 2, ['https://hangs/', 'https://up/']);
    await add('s', 3, ['https://hangs/', 'https://up/']);

    await clock.advance(2_000);

    expect(to('up').map(({ body }) => body)).toEqual(['s call.ended', 's call.analyzed']);
    expect(to('hangs')).toHaveLength(1);
  });
});

test('a dead host with a long queue delays nobody, and takes a bounded share', async () => {
  const { clock, add, to } = await setUp({ hangs });
  for (let i = 0; i < 700; i++) await add(`dead${i}`, 2, ['https://hangs/']);
  await clock.advance(5_000);
  const busy = to('hangs').length;
  const atMs = clock.nowMs() - 1_750_000_000_000;
  await add('alive', 2, ['https://up/']);

  await clock.advance(2_000);

  expect(busy).toBeLessThanOrEqual(50);
  expect((to('up')[0]?.atMs ?? Number.POSITIVE_INFINITY) - atMs).toBeLessThanOrEqual(1_000);
});

test('every delivery of a dead host gets its three attempts in the end', async () => {
  const { clock, add, statuses, to } = await setUp({ down });
  for (let i = 0; i < 120; i++) await add(`s${i}`, 2, ['https://down/']);

  await clock.advance(600_000);

  expect(to('down')).toHaveLength(360);
  expect(await statuses('s119')).toEqual([['dropped']]);
});

describe('processes that come and go', () => {
  test('what a dead process held is sent by another when its lease is over, an attempt counted once', async () => {
    const { clock, add, store, to } = await setUp({});
    await add('s', 2, ['https://up/']);
    const nowMs = clock.nowMs();
    // Another process claims it and is never heard of again.
    const held = await store.claim(nowMs, nowMs + 20_000);
    expect(held?.sessionId).toBe('s');

    await clock.advance(19_000);
    expect(to('up')).toHaveLength(0);
    await clock.advance(3_000);

    expect(to('up')).toHaveLength(1);
  });

  test('one that stops gives its waiting deliveries back at once, with the attempts made so far', async () => {
    const { clock, add, to, stop, startDispatcher } = await setUp({ down });
    await add('s', 2, ['https://down/']);
    await clock.advance(3_000);
    expect(to('down')).toHaveLength(2);

    await stop();
    const second = startDispatcher();
    await clock.advance(30_000);
    await second.stop();

    const [first = 0] = to('down').map(({ atMs }) => atMs);
    expect(to('down').map(({ atMs }) => atMs - first)).toEqual([0, 1_000, 6_000]);
  });

  test('two of them send each event once', async () => {
    const { clock, add, sent, startDispatcher } = await setUp({});
    const second = startDispatcher();
    for (let i = 0; i < 40; i++) {
      await add(`s${i}`, 2, ['https://up/', 'https://also/']);
      await add(`s${i}`, 3, ['https://up/', 'https://also/']);
    }

    await clock.advance(5_000);
    await second.stop();

    expect(sent).toHaveLength(160);
  });

  test('what one of them is trying the other leaves alone, also when an event is added meanwhile', async () => {
    const { clock, add, to, startDispatcher } = await setUp({ hangs });
    const second = startDispatcher();
    await add('s', 2, ['https://hangs/']);
    await clock.advance(4_000);
    await add('s', 3, ['https://hangs/']);
    await clock.advance(5_000);

    expect(to('hangs').map(({ body }) => body)).toEqual(['s call.ended']);
    await second.stop();
  });

  test('a late result of a process whose lease is over changes nothing', async () => {
    const { clock, add, store } = await setUp({});
    await add('s', 2, ['https://up/']);
    const nowMs = clock.nowMs();
    const held = await store.claim(nowMs, nowMs + 1);
    await clock.advance(5_000);

    const delivery = held?.deliveries['d2'];
    if (!held || !delivery) throw new Error('not claimed');
    expect(await store.save(held, { ...delivery, status: 'dropped' }, nowMs)).toBeNull();
    expect(await store.putDown(held, null, { ...delivery, status: 'dropped' })).toBe(false);
  });
});
