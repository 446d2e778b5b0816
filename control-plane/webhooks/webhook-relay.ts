import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import { WorkLoop } from '../../shared/work-loop.ts';
import type { NoticedSession, WebhookEndpoint, WebhookNotice } from './webhook-event.ts';
import { webhookBody } from './webhook-payload.ts';
import type { WebhookStore } from './webhook-store.ts';

const LEASE_MS = 10_000;
const REST_MS = 1_000;
const MAX_SESSIONS = 16;

/** Events that were written together with what they tell, held until they are handed on. */
export interface OutboxBatch {
  readonly session: NoticedSession;
  readonly endpoints: readonly WebhookEndpoint[];
  readonly notices: readonly WebhookNotice[];
  /** Empties the outbox, unless something was added since it was claimed. */
  readonly done: () => Promise<unknown>;
}

export interface WebhookRelayDeps {
  /** The outbox that is due longest; null when none is. */
  readonly claimOutbox: (nowMs: number, untilMs: number) => Promise<OutboxBatch | null>;
  readonly store: WebhookStore;
  /** There are new deliveries. */
  readonly onAdded: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Hands the events of sessions over to the deliveries. Doing it twice, or halfway and again, adds nothing twice. */
export function createWebhookRelay(deps: WebhookRelayDeps) {
  const { claimOutbox, store, clock, log } = deps;

  const loop = new WorkLoop<OutboxBatch>(
    { name: 'webhook outbox', claim, run: handOver, maxAtOnce: MAX_SESSIONS, restMs: REST_MS },
    { clock, log },
  );

  function claim(): Promise<OutboxBatch | null> {
    const nowMs = clock.nowMs();
    return claimOutbox(nowMs, nowMs + LEASE_MS);
  }

  async function handOver({ session, endpoints, notices, done }: OutboxBatch): Promise<void> {
    const { _id: sessionId, workspaceId, agentId } = session;
    for (const notice of [...notices].sort((a, b) => a.seq - b.seq)) {
      await store.addBody(sessionId, notice.seq, webhookBody(session, notice));
      await Promise.all(
        endpoints.map((target, endpoint) =>
          store.append(
            { sessionId, workspaceId, agentId, endpoint, target },
            notice.seq,
            notice.event,
            clock.nowMs(),
          ),
        ),
      );
    }
    await done();
    deps.onAdded();
  }

  return { run: (stopping: AbortSignal) => loop.run(stopping), poke: () => loop.poke() };
}
