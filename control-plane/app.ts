import { randomUUID } from 'node:crypto';
import { createJoinTokenSigner } from '../shared/join-token.ts';
import type { Logger } from '../shared/log.ts';
import type { ResolveHost } from '../shared/outgoing/guarded-lookup.ts';
import { createOutgoingClient } from '../shared/outgoing/outgoing-client.ts';
import { createSecretBox, deriveKey, type NamedKey } from '../shared/secret-box.ts';
import type { Clock } from '../shared/time.ts';
import { createAccounts } from './accounts.ts';
import { hostAndPort, listenForWorkers } from './addresses.ts';
import { createAfterCall } from './after-call.ts';
import { createAgentMaterials } from './agent-materials.ts';
import { createAgentLookup } from './agents/agent-lookup.ts';
import { agentRoutes } from './agents/agent-routes.ts';
import { createAgentService } from './agents/agent-service.ts';
import { createAgentStore } from './agents/agent-store.ts';
import { createAgentVersionStore } from './agents/agent-version-store.ts';
import type { ControlPlaneSettings } from './config.ts';
import { createConfigChecks } from './config-checks.ts';
import type { Coordination } from './coordination/coordination.ts';
import { createPlacement } from './dispatch/placement.ts';
import { createWorkerLink, type LinkCertificates } from './dispatch/worker-link.ts';
import { bindRoutes } from './http/bind-routes.ts';
import { serveConsole } from './http/console-files.ts';
import { createCursorSigner } from './http/cursor-signer.ts';
import { serveDocs } from './http/docs-page.ts';
import { healthRoutes } from './http/health-routes.ts';
import { createHttpMetrics } from './http/http-metrics.ts';
import { createHttpServer } from './http/http-server.ts';
import { createMetricsListener } from './http/metrics-listener.ts';
import { withDescription } from './http/openapi.ts';
import { ignoreUpgrade } from './http/plain-upgrade.ts';
import { createRequestScope, scopedLogger } from './http/request-scope.ts';
import { TestCarrier } from './phone/test-carrier.ts';
import { createPhones, phoneLimits } from './phones.ts';
import { createSessionLinks } from './session-links.ts';
import { createSessionEvents } from './sessions/session-events.ts';
import { createSessionItemStore } from './sessions/session-item-store.ts';
import { createOutboundSessions } from './sessions/session-outbound.ts';
import { sessionRoutes } from './sessions/session-routes.ts';
import { createSessionService } from './sessions/session-service.ts';
import { createSessionStore } from './sessions/session-store.ts';
import { createSessionSweeper } from './sessions/session-sweeper.ts';
import { createSessionTransitions } from './sessions/session-transitions.ts';
import { createSpeechForwarding } from './speech/speech-forwarding.ts';
import { createSpeechUsage } from './speech/speech-usage.ts';
import type { Store } from './storage/collection.ts';
import { walletRoutes } from './wallet/wallet-routes.ts';

const PREVIEW_MAX_DURATION_S = 600;

/** What is opened outside, because it can fail in ways an operator must read about. `app` closes none of it. */
export interface AppDeps {
  readonly store: Store;
  readonly coordination: Coordination;
  readonly masterKeys: readonly NamedKey[];
  readonly joinPrivatePem: string;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly linkCertificates: LinkCertificates | null;
  readonly resolveHost: ResolveHost;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The control plane: everything it consists of, in the order in which things need each other. */
export function createApp(settings: ControlPlaneSettings, deps: AppDeps) {
  const { store, coordination, masterKeys, clock } = deps;
  const [masterKey] = masterKeys;
  if (!masterKey) throw new Error('the control plane needs a master key');

  const scope = createRequestScope();
  const log = scopedLogger(deps.log, scope);
  const metrics = createHttpMetrics();
  const cursors = createCursorSigner(deriveKey(masterKey, 'parley cursors v1'));
  const sealer = createSecretBox(masterKeys);
  const joinTokens = createJoinTokenSigner(deps.joinPrivatePem, clock);
  const allowHosts = settings.OUTBOUND_ALLOW_HOSTS.split(',').filter((entry) => entry.trim() !== '');
  const outgoing = createOutgoingClient({ resolve: deps.resolveHost, allowHosts, clock });

  const accounts = createAccounts({ store, masterKeys, clock, log });
  const { authenticate } = accounts.authentication;

  const agentStore = createAgentStore(store, cursors);
  const versionStore = createAgentVersionStore(store, cursors);
  const materials = createAgentMaterials({ store, cursors, sealer, outgoing, agents: agentStore, clock });
  const { tools, knowledge, readAttachments } = materials;
  const checks = createConfigChecks({ outgoing, llmModel: settings.LLM_MODEL, tools, knowledge });
  const agentDeps = { agents: agentStore, versions: versionStore, sealer, readAttachments };
  const agents = createAgentService({ ...agentDeps, checks, clock });
  const agentLookup = createAgentLookup({ ...agentDeps, openTool: tools.open });

  const sessionStore = createSessionStore(store, cursors);
  const items = createSessionItemStore(store);
  const wallet = accounts.charging;
  const afterCall = createAfterCall({
    store,
    outgoing,
    settings,
    openWebhookSecret: agentLookup.openWebhookSecret,
    pinnedConfig: agentLookup.pinnedConfig,
    listItems: items.listItems,
    hasSession: async (id, workspaceId) => (await sessionStore.find(id, workspaceId)) !== null,
    clock,
    log,
  });
  const transitions = createSessionTransitions({
    sessions: sessionStore,
    wallet,
    onAftermath: afterCall.poke,
    clock,
    log,
  });
  const speechUsage = createSpeechUsage({
    prices: {
      ttsByteMicros: settings.PARLEY_PRICE_TTS_BYTE_MICROS,
      asrSecondMicros: settings.PARLEY_PRICE_ASR_SECOND_MICROS,
    },
    chargeUsage: wallet.chargeUsage,
    log,
  });
  const link = createWorkerLink({
    controlPlaneId: randomUUID(),
    coordination,
    applyEvent: (workerId, event) => sessionEvents.apply(workerId, event),
    authenticate,
    speech: {
      isOutOfCredit: wallet.isOutOfCredit,
      resolveVoice: async () => null,
      settleUsage: speechUsage.settle,
    },
    clock,
    log,
  });
  const sessionEvents = createSessionEvents({
    sessions: sessionStore,
    items,
    transitions,
    endOnWorker: link.end,
    log,
  });
  const { findAgent, publishedConfig } = agentLookup;
  const phones = createPhones({
    store,
    cursors,
    sealer,
    carrier: settings.PHONE_CARRIER === 'test' ? new TestCarrier(clock) : null,
    wallet,
    sessions: createOutboundSessions({
      sessions: sessionStore,
      transitions,
      wallet,
      findAgent,
      publishedConfig,
      minuteMicros: settings.PARLEY_PRICE_AGENT_MINUTE_MICROS + settings.PARLEY_PRICE_PHONE_MINUTE_MICROS,
      clock,
    }),
    hasAgent: async (agentId, workspaceId) => (await findAgent(agentId, workspaceId)) !== null,
    checkUrlSyntax: outgoing.checkUrlSyntax,
    limits: phoneLimits(settings),
    clock,
    log,
  });
  const placement = createPlacement({ link, coordination, random: Math.random, log });
  const links = createSessionLinks({ link, phones, placement, coordination });
  const sessions = createSessionService({
    sessions: sessionStore,
    items,
    transitions,
    wallet,
    place: links.place,
    release: links.release,
    endOnWorker: links.end,
    signJoinToken: joinTokens.sign,
    hit: coordination.hit.bind(coordination),
    findAgent,
    publishedConfig,
    draftConfig: agentLookup.draftConfig,
    knowledgeFor: knowledge.knowledgeFor,
    clock,
    limits: {
      joinWindowMs: settings.PARLEY_JOIN_WINDOW_S * 1000,
      publicJoinWindowMs: settings.PARLEY_PUBLIC_JOIN_WINDOW_S * 1000,
      reconnectWindowMs: settings.PARLEY_RECONNECT_WINDOW_MS,
      previewMaxDurationS: PREVIEW_MAX_DURATION_S,
      upFrontMicros: settings.PARLEY_PRICE_AGENT_MINUTE_MICROS,
      publicPerMinutePerIp: settings.PARLEY_PUBLIC_SESSIONS_PER_IP_MINUTE,
      publicPerMinutePerAgent: settings.PARLEY_PUBLIC_SESSIONS_PER_AGENT_MINUTE,
    },
  });
  const sweeper = createSessionSweeper({
    sessions: sessionStore,
    transitions,
    heldSessions: links.heldSessions,
    release: links.release,
    clock,
    log,
  });

  const resources = [
    ...healthRoutes({
      dependencies: { store: () => store.ping(), coordination: () => coordination.ping() },
      clock,
    }),
    ...walletRoutes(accounts.wallet),
    ...agentRoutes(agents),
    ...materials.routes,
    ...phones.routes,
    ...sessionRoutes(sessions),
    ...afterCall.routes,
  ];
  const routes = withDescription(resources, settings.PARLEY_PUBLIC_URL);
  const http = bindRoutes(routes, {
    authenticate,
    clock,
    log,
    maxBodyBytes: settings.PARLEY_MAX_BODY_BYTES,
    trustedProxyHops: settings.PARLEY_TRUSTED_PROXY_HOPS,
    replyCheck: settings.PARLEY_REPLY_CHECK,
    scope,
    metrics,
    pages: [serveConsole(), serveDocs()],
  });
  const forwarding = createSpeechForwarding({ workers: link.linkedWorkers, random: Math.random, log });
  const listener = http.callback();
  const server = createHttpServer(forwarding.before(listener), {
    host: settings.PARLEY_HOST,
    port: settings.PARLEY_PORT,
    setting: 'PARLEY_PORT',
    tls: deps.tls,
    clock,
  });
  server.server.on('upgrade', forwarding.upgradeBefore(ignoreUpgrade(listener)));
  const admin = createHttpServer(createMetricsListener(metrics.registry, log), {
    ...hostAndPort(settings.PARLEY_ADMIN_ADDRESS),
    setting: 'PARLEY_ADMIN_ADDRESS',
    clock,
  });
  const stopping = new AbortController();
  let working: Promise<unknown> = Promise.resolve();

  /** Prepares the store, then listens. Rejects with `AddressUnavailable` when an address is taken. */
  async function start() {
    await Promise.all([
      accounts.ensureIndexes(),
      agentStore.ensureIndexes(),
      versionStore.ensureIndexes(),
      materials.ensureIndexes(),
      sessionStore.ensureIndexes(),
      items.ensureIndexes(),
      afterCall.ensureIndexes(),
      phones.ensureIndexes(),
    ]);
    await accounts.ledger.reconcile();
    link.onWorkerLinked((_workerId, sessionIds) => {
      sessionEvents
        .workerLinked(sessionIds)
        .catch((err) => log.warn({ err }, 'sessions of a linked worker not followed'));
    });
    const grpcPort = await listenForWorkers(link, settings.PARLEY_GRPC_ADDRESS, deps.linkCertificates);
    const adminPort = await admin.start();
    const port = await server.start();
    const { signal } = stopping;
    working = Promise.all([sweeper.run(signal), phones.sweeper.run(signal), afterCall.run(signal)]);
    return { port, grpcPort, adminPort };
  }

  /** Lets running requests end, then leaves the workers to their calls. */
  async function stop(): Promise<void> {
    stopping.abort();
    forwarding.cutSockets();
    await server.stop();
    forwarding.close();
    await Promise.all([link.stop(), admin.stop(), phones.close(), working]);
    await outgoing.close();
  }

  return { start, stop, accounts };
}
