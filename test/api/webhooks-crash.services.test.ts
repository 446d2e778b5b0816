import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createAccounts } from '../../control-plane/accounts.ts';
import type { Store } from '../../control-plane/storage/collection.ts';
import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';
import { openMongoStore } from '../../control-plane/storage/mongo-store.ts';
import { silentLogger } from '../../shared/log.ts';
import { parseKeyList } from '../../shared/secret-box.ts';
import { systemClock } from '../../shared/time.ts';
import { Cleanups, startWorker } from '../contract/link-fixture.ts';
import { startControlPlaneProcess } from '../support/control-plane-process.ts';
import { eventually } from '../support/eventually.ts';
import { startMongoServer } from '../support/mongo-server.ts';
import { freePort } from '../support/parley.ts';
import { readArrivals } from '../support/webhook-ledger.ts';
import { startWebhookReceiver, type Take } from '../support/webhook-receiver.ts';

const SESSIONS = 1_000;
const ENDPOINTS = 5;
const DELIVERIES = SESSIONS * ENDPOINTS * 2;
const KILLS = 8;
const CREATED_AT_ONCE = 20;
const LIMIT_MS = 200_000;

interface Place {
  readonly env: Readonly<Record<string, string>>;
  readonly open: () => Promise<Store> | Store;
}

async function embedded(dataDir: string): Promise<Place> {
  const file = join(dataDir, 'parley.db');
  // What a killed process wrote survives it either way; FULL guards against power cuts and costs minutes here.
  const env = { PARLEY_DATA_DIR: dataDir, PARLEY_STORE_SYNCHRONOUS: 'NORMAL' };
  return { env, open: () => openEmbeddedStore({ file }) };
}

async function mongo(dataDir: string): Promise<Place> {
  const server = await startMongoServer();
  onTestFinished(() => server.stop());
  const database = 'crash';
  return {
    env: { PARLEY_DATA_DIR: dataDir, MONGO_URL: server.url, MONGO_DATABASE: database },
    open: () => openMongoStore({ url: server.url, database }),
  };
}

/** Answers one request in twenty with 500, each delivery once at most. */
function flaky(): Take {
  const refused = new Set<string>();
  return (reply, nth, { body }) => {
    const text = body.toString();
    const isRefused = nth % 20 === 7 && !refused.has(text);
    if (isRefused) refused.add(text);
    reply.writeHead(isRefused ? 500 : 200).end();
  };
}

async function startReceivers() {
  const receivers = await Promise.all(
    Array.from({ length: ENDPOINTS }, () => startWebhookReceiver(systemClock, { '/hook': flaky() })),
  );
  onTestFinished(async () => {
    for (const receiver of receivers) await receiver.stop();
  });
  const report = () =>
    readArrivals(
      receivers.flatMap(({ host, received }) =>
        received.map(({ body }) => ({ endpoint: host, body: body.toString() })),
      ),
    );
  const count = () => receivers.reduce((sum, { received }) => sum + received.length, 0);
  return { receivers, report, count };
}

/** An account in the store, made the way the administrator's command line does. */
async function makeAccount(store: Store, secretKey: string): Promise<string> {
  const masterKeys = parseKeyList(secretKey);
  const accounts = createAccounts({ store, masterKeys, clock: systemClock, log: silentLogger });
  await accounts.ensureIndexes();
  const user = await accounts.service.createUser('Ann');
  const workspace = await accounts.service.createWorkspace('Team', user._id);
  await accounts.service.setBeta({ kind: 'workspace', id: workspace._id }, true);
  await accounts.charging.addCredit(user._id, 1_000_000_000, 'start');
  const key = { workspaceId: workspace._id, userId: user._id, name: 'test', expiresAtMs: null };
  const { apiKey } = await accounts.service.createKey(key);
  await store.close();
  return apiKey;
}

async function setUp(openPlace: (dataDir: string) => Promise<Place>) {
  const cleanups = new Cleanups();
  onTestFinished(() => cleanups.run());
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-crash-'));
  cleanups.add(() => rm(dataDir, { recursive: true, force: true }));
  const place = await openPlace(dataDir);
  const { receivers, report, count } = await startReceivers();
  const [port, grpcPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const secretKey = randomBytes(32).toString('base64');
  const apiKey = await makeAccount(await place.open(), secretKey);
  const joinKey = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  const start = () =>
    startControlPlaneProcess({
      ...place.env,
      PARLEY_PORT: String(port),
      PARLEY_GRPC_ADDRESS: `127.0.0.1:${grpcPort}`,
      PARLEY_ADMIN_ADDRESS: `127.0.0.1:${adminPort}`,
      PARLEY_SECRET_KEY: secretKey,
      PARLEY_JOIN_PRIVATE_KEY: joinKey.toString(),
      PARLEY_JOIN_WINDOW_S: '3600',
      PARLEY_LOG_LEVEL: 'error',
      OUTBOUND_ALLOW_HOSTS: receivers.map(({ host }) => host).join(','),
    });
  let control = await start();
  cleanups.add(() => control.kill());
  const worker = await startWorker(cleanups, { ports: [grpcPort], capacity: SESSIONS, dir: dataDir });

  async function call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return JSON.parse(text);
  }

  async function killAndStart(): Promise<void> {
    await control.kill();
    control = await start();
  }
  return { call, killAndStart, worker, receivers, report, count };
}

type Setting = Awaited<ReturnType<typeof setUp>>;

async function startSessions({ call, receivers }: Setting): Promise<string[]> {
  const post_call = receivers.map(({ url }, n) => ({ url: url('/hook'), secret: `secret ${n}` }));
  const agent = await call('POST', '/v1/agent/agents', { name: 'Desk', config: { webhooks: { post_call } } });
  await call('POST', `/v1/agent/agents/${agent['agent_id']}/publish`);
  const ids: string[] = [];
  while (ids.length < SESSIONS) {
    const body = { agent_id: agent['agent_id'], metadata: { n: ids.length } };
    const batch = Array.from({ length: CREATED_AT_ONCE }, () => call('POST', '/v1/agent/sessions', body));
    for (const session of await Promise.all(batch)) ids.push(String(session['session_id']));
  }
  return ids;
}

/** All calls, one after the other within some seconds: joined, something said, over. */
async function holdCalls({ worker }: Setting, ids: readonly string[]): Promise<void> {
  for (const [n, sessionId] of ids.entries()) {
    const nowMs = Date.now();
    worker.admission.join(sessionId);
    worker.outbox.publish(sessionId, { $case: 'joined', value: { protocol: 'livekit' } });
    const item = { type: 'message', role: 'user', content: 'Hello', turn_id: 1, created_at: null };
    const itemJson = JSON.stringify(item);
    worker.outbox.publish(sessionId, { $case: 'timelineItem', value: { itemJson } });
    const times = { startedAtMs: nowMs - 5_000, endedAtMs: nowMs };
    const value = { status: 'completed', endReason: 'user_hangup', ...times };
    worker.outbox.publish(sessionId, { $case: 'ended', value });
    if (n % 50 === 49) await systemClock.sleep(500);
  }
}

test.each([
  ['the embedded store', embedded],
  ['a MongoDB-wire server', mongo],
])(
  '10,000 deliveries on %s with kill -9 of the control plane at random moments: none lost, order kept',
  async (where, openPlace) => {
    const setting = await setUp(openPlace);
    const ids = await startSessions(setting);

    const beganMs = performance.now();
    const calls = holdCalls(setting, ids);
    const killedAt: number[] = [];
    for (let kills = 0; kills < KILLS; kills++) {
      // Spread over the work, the first while calls are still ending; at a random moment each.
      const share = (kills / KILLS) * 0.9;
      await eventually(`${share * DELIVERIES} arrivals`, LIMIT_MS, () =>
        setting.count() >= share * DELIVERIES ? true : null,
      );
      await systemClock.sleep(Math.random() * 1_500);
      killedAt.push(setting.count());
      await setting.killAndStart();
    }
    await calls;
    await eventually('every delivery has arrived', LIMIT_MS, async () => {
      await systemClock.sleep(500);
      return setting.count() >= DELIVERIES && setting.report().deliveries === DELIVERIES ? true : null;
    }).catch(() => {});
    const tookS = ((performance.now() - beganMs) / 1000).toFixed(0);

    const { deliveries, disordered, changed, repeats } = setting.report();
    process.stdout.write(
      `${where}: ${deliveries} deliveries in ${tookS} s, ${repeats} repeats, killed after ${killedAt.join(', ')} arrivals\n`,
    );
    expect(deliveries).toBe(DELIVERIES);
    expect(disordered).toEqual([]);
    expect(changed).toEqual([]);
  },
  400_000,
);
