import type { AgentConfig } from '../shared/agent-config.ts';
import type { Logger } from '../shared/log.ts';
import { createOutgoingClient, type OutgoingClient } from '../shared/outgoing/outgoing-client.ts';
import { resolveWithSystem } from '../shared/outgoing/system-resolver.ts';
import type { TimelineItem } from '../shared/session-timeline.ts';
import type { Clock } from '../shared/time.ts';
import { createAnalyser } from './analysis/analyser.ts';
import { analysisRoutes } from './analysis/analysis-routes.ts';
import { createAnalysisRunner } from './analysis/analysis-runner.ts';
import type { ModelEndpoint } from './analysis/language-model.ts';
import type { ControlPlaneSettings } from './config.ts';
import { createSessionAnalyses } from './sessions/session-analysis.ts';
import { createSessionOutbox } from './sessions/session-outbox.ts';
import type { Store } from './storage/collection.ts';
import { createWebhookDispatcher } from './webhooks/webhook-dispatcher.ts';
import { createWebhookRelay } from './webhooks/webhook-relay.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';
import { createWebhookSender } from './webhooks/webhook-sender.ts';
import { createWebhookService } from './webhooks/webhook-service.ts';
import { createWebhookStore } from './webhooks/webhook-store.ts';

export interface AfterCallDeps {
  readonly store: Store;
  /** Reaches public addresses alone. */
  readonly outgoing: Pick<OutgoingClient, 'request'>;
  readonly settings: Pick<ControlPlaneSettings, 'LLM_BASE_URL' | 'LLM_API_KEY' | 'LLM_MODEL'>;
  readonly openWebhookSecret: (agentId: string, stored: string) => string;
  readonly pinnedConfig: (agentId: string, version: number) => Promise<AgentConfig | null>;
  readonly listItems: (sessionId: string) => Promise<readonly TimelineItem[]>;
  readonly hasSession: (sessionId: string, workspaceId: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What happens when a call is over: its analysis, and the webhooks that tell of it. */
export function createAfterCall(deps: AfterCallDeps) {
  const { store, clock, log } = deps;
  const house = houseModel(deps.settings);
  const operatorHttp = createOutgoingClient({
    resolve: resolveWithSystem,
    allowHosts: house ? [hostAndPortOf(house.baseUrl)] : [],
    clock,
  });

  const webhooks = createWebhookStore(store);
  const outbox = createSessionOutbox(store);
  const sender = createWebhookSender({ outgoing: deps.outgoing, openSecret: deps.openWebhookSecret, clock });
  const dispatcher = createWebhookDispatcher({ store: webhooks, sender, clock, log });
  const relay = createWebhookRelay({
    claimOutbox: outbox.claim,
    store: webhooks,
    onAdded: dispatcher.poke,
    clock,
    log,
  });
  const analyses = createSessionAnalyses({
    store,
    clock,
    onNotice: relay.poke,
    onQueued: () => runner.poke(),
  });
  const runner = createAnalysisRunner({
    claim: analyses.claim,
    renew: analyses.renew,
    settle: analyses.settleAnalysis,
    pinnedConfig: deps.pinnedConfig,
    listItems: deps.listItems,
    analyser: createAnalyser({ house, operatorHttp, http: deps.outgoing }),
    clock,
    log,
  });
  const service = createWebhookService({
    store: webhooks,
    hasSession: deps.hasSession,
    onAdded: dispatcher.poke,
    clock,
  });

  /** Works until `stopping` aborts and what was begun is done. */
  async function run(stopping: AbortSignal): Promise<void> {
    await Promise.all([relay.run(stopping), dispatcher.run(stopping), runner.run(stopping)]);
    await operatorHttp.close();
  }

  return {
    routes: [...webhookRoutes(service), ...analysisRoutes({ rerun: analyses.rerun })],
    run,
    /** Events were written: they are sent at once instead of at the next look. */
    poke: relay.poke,
    settleAnalysis: analyses.settleAnalysis,
    /** For whoever deletes a session. */
    removeDeliveries: webhooks.removeOfSession,
    ensureIndexes: async (): Promise<void> => {
      await Promise.all([webhooks.ensureIndexes(), outbox.ensureIndexes(), analyses.ensureIndexes()]);
    },
  };
}

function houseModel(settings: AfterCallDeps['settings']): ModelEndpoint | null {
  const { LLM_BASE_URL: baseUrl, LLM_API_KEY: apiKey, LLM_MODEL: model } = settings;
  return baseUrl === '' ? null : { baseUrl, apiKey: apiKey || null, model };
}

function hostAndPortOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
}
