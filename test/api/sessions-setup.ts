import { agentRoutes } from '../../control-plane/agents/agent-routes.ts';
import { MemoryCoordination } from '../../control-plane/coordination/memory-coordination.ts';
import { createSessionEvents } from '../../control-plane/sessions/session-events.ts';
import { createSessionItemStore } from '../../control-plane/sessions/session-item-store.ts';
import { sessionRoutes } from '../../control-plane/sessions/session-routes.ts';
import { createSessionService } from '../../control-plane/sessions/session-service.ts';
import { createSessionStore } from '../../control-plane/sessions/session-store.ts';
import { createSessionSweeper } from '../../control-plane/sessions/session-sweeper.ts';
import { createSessionTransitions } from '../../control-plane/sessions/session-transitions.ts';
import type { Store } from '../../control-plane/storage/collection.ts';
import { createCharging } from '../../control-plane/wallet/charging.ts';
import { createLedger } from '../../control-plane/wallet/ledger.ts';
import { createWalletStore } from '../../control-plane/wallet/wallet-store.ts';
import { Failure } from '../../shared/errors.ts';
import type { SessionEvent, SessionSpec } from '../../shared/generated/parley/v1/worker_link.ts';
import type { JoinGrant } from '../../shared/join-token.ts';
import { silentLogger } from '../../shared/log.ts';
import type { FakeClock } from '../fakes/fake-clock.ts';
import { cursors, type Json, serve, setUpAgents } from './agents-setup.ts';

export const SESSIONS = '/v1/agent/sessions';
export const MINUTE_MICROS = 60_000;
export const ORIGIN = 'https://a.example';

const LIMITS = {
  joinWindowMs: 300_000,
  publicJoinWindowMs: 60_000,
  reconnectWindowMs: 15_000,
  previewMaxDurationS: 600,
  upFrontMicros: MINUTE_MICROS,
  publicPerMinutePerIp: 10,
  publicPerMinutePerAgent: 60,
};

type Limits = typeof LIMITS;

/** One worker that takes every session, remembers what it was told, and fails when told to. */
export class FakeDispatch {
  readonly specs: SessionSpec[] = [];
  readonly released: string[] = [];
  readonly ended: { sessionId: string; endReason: string }[] = [];
  readonly grants: { grant: JoinGrant; expiresAtMs: number }[] = [];
  /** Sessions the worker names in its heartbeat. */
  readonly held = new Set<string>();
  isReachable = true;
  canSign = true;

  readonly place = async (spec: SessionSpec) => {
    if (!this.isReachable) throw new Failure('upstream_failed', 'Agent gateway is unreachable');
    this.specs.push(spec);
    this.held.add(spec.sessionId);
    return { workerId: 'wk1', rtcUrl: 'ws://worker.example' };
  };

  readonly release = async (sessionId: string) => {
    this.released.push(sessionId);
    this.held.delete(sessionId);
  };

  readonly endOnWorker = async (sessionId: string, endReason: string) => {
    if (!this.isReachable) throw new Failure('upstream_failed', 'Agent gateway is unreachable');
    this.ended.push({ sessionId, endReason });
    return this.held.delete(sessionId);
  };

  readonly signJoinToken = async (grant: JoinGrant, expiresAtMs: number) => {
    if (!this.canSign) throw new Error('no key');
    this.grants.push({ grant, expiresAtMs });
    return `token-of-${grant.sessionId}`;
  };
}

async function setUpWallet(store: Store, clock: FakeClock, creditMicros: number) {
  const wallets = createWalletStore(store);
  await wallets.ensureIndexes();
  await wallets.open('payer', clock.nowMs());
  const ledger = createLedger({ wallets, clock, log: silentLogger });
  const charging = createCharging({ ledger, wallets, payerOf: async () => 'payer', log: silentLogger });
  if (creditMicros > 0) await charging.addCredit('payer', creditMicros, 'start');
  const balance = async () => (await wallets.find('payer'))?.balanceMicros;
  return { charging, balance };
}

/** Agents, sessions and the wallet on an embedded store, over HTTP. */
export async function setUpSessionApi(options: { creditMicros?: number; limits?: Partial<Limits> } = {}) {
  const agentsResource = await setUpAgents();
  const { store, clock, lookup } = agentsResource;
  const { charging, balance } = await setUpWallet(store, clock, options.creditMicros ?? 100_000_000);
  const dispatch = new FakeDispatch();
  const coordination = new MemoryCoordination(clock);
  const sessions = createSessionStore(store, cursors);
  const items = createSessionItemStore(store);
  await sessions.ensureIndexes();
  await items.ensureIndexes();
  const log = silentLogger;
  const transitions = createSessionTransitions({ sessions, wallet: charging, clock, log });
  const { place, release, endOnWorker, signJoinToken } = dispatch;
  const service = createSessionService({
    sessions,
    items,
    transitions,
    wallet: charging,
    ...lookup,
    place,
    release,
    endOnWorker,
    signJoinToken,
    knowledgeFor: async (_workspaceId, pins) => ({
      inlineText: `text of ${pins.map(({ sourceId }) => sourceId).join()}`,
      chunks: [],
    }),
    hit: (key, limit, windowMs) => coordination.hit(key, limit, windowMs),
    clock,
    limits: { ...LIMITS, ...options.limits },
  });
  const events = createSessionEvents({ sessions, items, transitions, endOnWorker, log });
  const sweeper = createSessionSweeper({
    sessions,
    transitions,
    heldSessions: async () => dispatch.held,
    release,
    clock,
    log,
  });
  const { ask } = await serve([...agentRoutes(agentsResource.service), ...sessionRoutes(service)]);

  /** A published agent, changed as given. */
  async function publishedAgent(agent: Json = {}, config: Json = {}): Promise<string> {
    const created = await ask('POST', '/v1/agent/agents', { name: 'Desk', config });
    const id = String(created.body['agent_id']);
    if (Object.keys(agent).length > 0) await ask('PATCH', `/v1/agent/agents/${id}`, agent);
    const published = await ask('POST', `/v1/agent/agents/${id}/publish`);
    if (published.status !== 200) throw new Error('agent could not be published');
    return id;
  }

  async function startSession(body: Json = {}): Promise<string> {
    const agentId = body['agent_id'] ?? (await publishedAgent());
    const reply = await ask('POST', SESSIONS, { agent_id: agentId, ...body });
    if (reply.status !== 201) throw new Error(`session not started: ${JSON.stringify(reply.body)}`);
    return String(reply.body['session_id']);
  }

  const read = async (sessionId: string) => (await ask('GET', `${SESSIONS}/${sessionId}`)).body;

  /** An event of the worker, at the clock's time. */
  function report(sessionId: string, sequence: number, event: SessionEvent['event']): Promise<void> {
    return events.apply('wk1', { sessionId, sequence, atMs: clock.nowMs(), event });
  }

  const joined = (sessionId: string) =>
    report(sessionId, 1, { $case: 'joined', value: { protocol: 'livekit' } });

  return {
    ...agentsResource,
    ask,
    balance,
    charging,
    dispatch,
    sessions,
    items,
    transitions,
    events,
    sweeper,
    publishedAgent,
    startSession,
    read,
    report,
    joined,
  };
}
