import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createApp } from '../../control-plane/app.ts';
import { ControlPlaneSettings } from '../../control-plane/config.ts';
import type { Coordination } from '../../control-plane/coordination/coordination.ts';
import { MemoryCoordination } from '../../control-plane/coordination/memory-coordination.ts';
import type { Store } from '../../control-plane/storage/collection.ts';
import { readSettings } from '../../shared/config.ts';
import { type Logger, silentLogger } from '../../shared/log.ts';
import type { ResolveHost } from '../../shared/outgoing/guarded-lookup.ts';
import { parseKeyList } from '../../shared/secret-box.ts';
import { systemClock } from '../../shared/time.ts';
import { makeTestStore } from '../support/test-store.ts';

export interface ControlPlaneOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** An empty one of its own unless given. */
  readonly store?: Store;
  readonly log?: Logger;
  /** In memory unless given; closed with the rest. */
  readonly coordination?: Coordination;
  /** Every host name is public unless given. */
  readonly resolveHost?: ResolveHost;
}

/** The whole control plane on free ports of loopback, with one account that has beta access and 100.00 of credit. */
export async function startControlPlane(options: ControlPlaneOptions = {}) {
  const { store, rawBytes, everyDocument, remove } = options.store
    ? givenStore(options.store)
    : await makeTestStore();
  const clock = systemClock;
  const joinKey = generateKeyPairSync('ed25519').privateKey;
  const settings = readSettings(ControlPlaneSettings, {
    PARLEY_PORT: '0',
    PARLEY_GRPC_ADDRESS: '127.0.0.1:0',
    PARLEY_ADMIN_ADDRESS: '127.0.0.1:0',
    PARLEY_REPLY_CHECK: 'refuse',
    ...options.env,
  });
  const coordination = options.coordination ?? new MemoryCoordination(clock);
  const app = createApp(settings, {
    store,
    coordination,
    masterKeys: parseKeyList(randomBytes(32).toString('base64')),
    joinPrivatePem: joinKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    tls: null,
    linkCertificates: null,
    resolveHost: options.resolveHost ?? (async () => ['8.8.8.8']),
    clock,
    log: options.log ?? silentLogger,
  });
  const addresses = await app.start();
  const { service, charging } = app.accounts;

  /** A user with a workspace, beta access, an API key and so much credit. */
  async function newAccount(creditMicros = 100_000_000) {
    const user = await service.createUser('Ann');
    const workspace = await service.createWorkspace('Team', user._id);
    await service.setBeta({ kind: 'workspace', id: workspace._id }, true);
    if (creditMicros !== 0) await charging.addCredit(user._id, creditMicros, `start_${user._id}`);
    const { apiKey } = await service.createKey({
      workspaceId: workspace._id,
      userId: user._id,
      name: 'test',
      expiresAtMs: null,
    });
    return { userId: user._id, workspaceId: workspace._id, apiKey };
  }

  const account = await newAccount();
  const baseUrl = `http://127.0.0.1:${addresses.port}`;

  /** Calls the API as the first account, or as whoever's key is given. */
  async function call(method: string, path: string, body?: unknown, apiKey = account.apiKey) {
    const reply = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, body: text === '' ? null : JSON.parse(text) };
  }

  return {
    app,
    addresses,
    baseUrl,
    account,
    newAccount,
    call,
    store,
    /** Everything that is stored, as it is stored. */
    rawBytes,
    everyDocument,
    async stop(): Promise<void> {
      await app.stop();
      await coordination.close();
      await remove();
    },
  };
}

function givenStore(store: Store) {
  const refuse = async (): Promise<never> => {
    throw new Error('only a store of its own can be looked into');
  };
  return { store, rawBytes: refuse, everyDocument: refuse, remove: () => store.close() };
}
