import { Failure } from '../../shared/errors.ts';
import { type Clock, toIso } from '../../shared/time.ts';
import type { KeyCaller } from '../http/route.ts';
import type { Delivery } from './webhook-delivery.ts';
import type { WebhookDelivery, WebhookDeliveryList } from './webhook-schema.ts';
import type { LaneDoc, WebhookStore } from './webhook-store.ts';

export interface WebhookServiceDeps {
  readonly store: WebhookStore;
  readonly hasSession: (sessionId: string, workspaceId: string) => Promise<boolean>;
  /** There is something to send. */
  readonly onAdded: () => void;
  readonly clock: Clock;
}

const DELIVERY_ID = /^dlv_([0-9a-z]+)_(\d{1,6})_(\d{1,2})$/;

/** The history of a session's webhooks, for its own team. */
export function createWebhookService({ store, hasSession, onAdded, clock }: WebhookServiceDeps) {
  /** By event, then by endpoint. Throws 404. */
  async function list(sessionId: string, caller: KeyCaller): Promise<WebhookDeliveryList> {
    await refuseForeign(sessionId, caller);
    const lanes = await store.listOfSession(sessionId, caller.workspaceId);
    const rows = lanes.flatMap((lane) =>
      Object.values(lane.deliveries).map((delivery) => ({ lane, delivery })),
    );
    rows.sort((a, b) => a.delivery.seq - b.delivery.seq || a.lane.endpoint - b.lane.endpoint);
    return { deliveries: rows.map(({ lane, delivery }) => toReply(lane, delivery)) };
  }

  /** Sends a settled delivery again, with a new budget of attempts and the same body. Throws 404, 409. */
  async function resend(sessionId: string, deliveryId: string, caller: KeyCaller): Promise<WebhookDelivery> {
    await refuseForeign(sessionId, caller);
    const place = readDeliveryId(deliveryId);
    const isOfSession = place !== null && `ses_${place.session}` === sessionId;
    const lane = isOfSession ? await store.findLane(sessionId, place.endpoint, caller.workspaceId) : null;
    const delivery = place && lane?.deliveries[`d${place.seq}`];
    if (!lane || !delivery) throw new Failure('not_found', 'Delivery not found');
    if (delivery.status === 'pending') throw new Failure('conflict', 'Delivery is still pending');
    const changed = await store.resend(lane, delivery.seq, clock.nowMs());
    const again = changed?.deliveries[`d${delivery.seq}`];
    if (!changed || !again) throw new Failure('conflict', 'Delivery is pending or was sent again too often');
    onAdded();
    return toReply(changed, again);
  }

  async function refuseForeign(sessionId: string, caller: KeyCaller): Promise<void> {
    if (await hasSession(sessionId, caller.workspaceId)) return;
    throw new Failure('not_found', 'Session not found');
  }

  return { list, resend };
}
export type WebhookService = ReturnType<typeof createWebhookService>;

function toReply(lane: LaneDoc, delivery: Delivery): WebhookDelivery {
  const session = lane.sessionId.replace(/^ses_/, '');
  return {
    delivery_id: `dlv_${session}_${delivery.seq}_${lane.endpoint}`,
    event: delivery.event,
    url: lane.url,
    status: delivery.status,
    created_at: toIso(delivery.createdAtMs),
    next_attempt_at: delivery.status === 'pending' ? toIso(delivery.dueAtMs) : null,
    resends: delivery.resends,
    attempts: delivery.attempts.map((attempt) => ({
      sent_at: toIso(attempt.sentAtMs),
      latency_ms: attempt.latencyMs,
      status_code: attempt.statusCode,
      response_excerpt: attempt.excerpt,
      error: attempt.error,
    })),
  };
}

function readDeliveryId(id: string): { session: string; seq: number; endpoint: number } | null {
  const [, session, seq, endpoint] = DELIVERY_ID.exec(id) ?? [];
  if (session === undefined || seq === undefined || endpoint === undefined) return null;
  return { session, seq: Number(seq), endpoint: Number(endpoint) };
}
