import { expect, onTestFinished, test } from 'vitest';
import { createAfterCall } from '../../control-plane/after-call.ts';
import { createSessionItemStore } from '../../control-plane/sessions/session-item-store.ts';
import { createSessionStore, type SessionDoc } from '../../control-plane/sessions/session-store.ts';
import { createSessionTransitions } from '../../control-plane/sessions/session-transitions.ts';
import type { Store } from '../../control-plane/storage/collection.ts';
import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';
import { newSessionId } from '../../shared/ids.ts';
import { silentLogger } from '../../shared/log.ts';
import type { OutgoingRequest, OutgoingResponse } from '../../shared/outgoing/outgoing-client.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { createMortalStore } from '../fakes/mortal-store.ts';
import { readArrivals } from '../support/webhook-ledger.ts';
import { cursors } from './agents-setup.ts';

const SESSIONS = 30;
const ENDPOINTS = [1, 2, 3, 4, 5].map((n) => `https://n${n}.example/`);
const LONGEST_LIFE_OPERATIONS = 220;
const TIME_LIMIT_MS = 3_600_000;

const wallet = { chargeUpFront: async () => {}, giveBack: async () => {}, settle: async () => {} };

/** A generator of its own (mulberry32), so that every run dies at the same moments. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function activeSession(clock: FakeClock): SessionDoc {
  const nowMs = clock.nowMs();
  return {
    _id: newSessionId(nowMs),
    workspaceId: 'w',
    agentId: 'a',
    agentName: 'Desk',
    agentVersion: null,
    configHash: 'sha256:0',
    name: null,
    status: 'active',
    endReason: null,
    source: 'api_key',
    direction: 'inbound',
    callerNumber: null,
    dialedNumber: null,
    dialStatus: null,
    timezone: null,
    createdAtMs: nowMs,
    joinDeadlineMs: nowMs,
    startedAtMs: nowMs,
    endedAtMs: null,
    durationS: null,
    endUserId: null,
    metadataJson: '{"order":7}',
    isBilled: false,
    workerId: 'wk',
    unknownSinceMs: null,
    moneyDue: null,
    logBytes: 0,
    webhooks: ENDPOINTS.map((url) => ({ url, secret: null })),
    outbox: [],
    outboxDueAtMs: null,
    outboxToken: null,
    analysis: null,
    analysisDueAtMs: null,
  };
}

/** Control planes that die, one after the other, on one store, with one worker that reports until it is answered. */
async function setUp(seed: number) {
  const random = randomFrom(seed);
  const clock = new FakeClock();
  const rows = openEmbeddedStore({ file: ':memory:', synchronous: 'NORMAL' });
  onTestFinished(() => rows.close());
  const sessionStore = createSessionStore(rows, cursors);
  await sessionStore.ensureIndexes();
  const unreported = new Set<string>();
  for (let i = 0; i < SESSIONS; i++) {
    const session = activeSession(clock);
    await sessionStore.insert(session);
    unreported.add(session._id);
  }
  const arrivals: { endpoint: string; body: string }[] = [];
  const refused = new Set<string>();
  let deaths = 0;

  /** One life; resolves at its death, or when it has outlived everything there is to do. */
  async function live(): Promise<void> {
    let isDead = false;
    const store = createMortalStore(rows, {
      atOperation: 2 + Math.floor(random() * LONGEST_LIFE_OPERATIONS),
      takesEffect: random() < 0.5,
      onDeath: () => {
        isDead = true;
        deaths++;
      },
    });
    const stopping = new AbortController();
    const { afterCall, transitions } = start(store, () => isDead);
    void afterCall.run(stopping.signal);
    const endedAtMs = clock.nowMs();
    for (const sessionId of unreported) {
      const happening = { type: 'ended', endReason: 'user_hangup', startedAtMs: 1, endedAtMs } as const;
      void transitions.move(sessionId, happening).then(() => unreported.delete(sessionId));
    }
    for (let steps = 0; !isDead && !isDone() && steps < 400; steps++) await clock.advance(250);
    stopping.abort();
  }

  function start(store: Store, isDead: () => boolean) {
    async function request(input: OutgoingRequest): Promise<OutgoingResponse> {
      if (isDead()) return new Promise<never>(() => {});
      const body = Buffer.from(input.body ?? '').toString();
      arrivals.push({ endpoint: input.url, body });
      await clock.sleep(Math.floor(random() * 300));
      const what = `${input.url} ${body}`;
      const isRefused = !refused.has(what) && random() < 0.15;
      if (isRefused) refused.add(what);
      return { status: isRefused ? 500 : 200, headers: {}, body: Buffer.alloc(0), isTruncated: false };
    }
    const afterCall = createAfterCall({
      store,
      outgoing: { request },
      settings: { LLM_BASE_URL: '', LLM_API_KEY: '', LLM_MODEL: '' },
      openWebhookSecret: (_agentId, secret) => secret,
      pinnedConfig: async () => null,
      listItems: createSessionItemStore(store).listItems,
      hasSession: async () => true,
      clock,
      log: silentLogger,
    });
    const transitions = createSessionTransitions({
      sessions: createSessionStore(store, cursors),
      wallet,
      onAftermath: afterCall.poke,
      clock,
      log: silentLogger,
    });
    return { afterCall, transitions };
  }

  const isDone = () => readArrivals(arrivals).deliveries === SESSIONS * ENDPOINTS.length * 2;

  async function liveOn(): Promise<void> {
    const endMs = clock.nowMs() + TIME_LIMIT_MS;
    while (!isDone() && clock.nowMs() < endMs) {
      await live();
      // Time until the next process is up.
      await clock.advance(500);
    }
  }
  await start(rows, () => false).afterCall.ensureIndexes();
  return { liveOn, arrivals, deaths: () => deaths };
}

test.each([1, 2, 3, 4, 5])(
  '300 deliveries survive a process that dies again and again (%i): none lost, order kept',
  async (seed) => {
    const { liveOn, arrivals, deaths } = await setUp(seed);

    await liveOn();

    const report = readArrivals(arrivals);
    expect(report.deliveries).toBe(300);
    expect(report.disordered).toEqual([]);
    expect(report.changed).toEqual([]);
    expect(deaths()).toBeGreaterThanOrEqual(5);
  },
);
