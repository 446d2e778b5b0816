import { type AnyRoute, route } from '../http/route.ts';
import { DeliveriesPath, DeliveryPath, WebhookDelivery, WebhookDeliveryList } from './webhook-schema.ts';
import type { WebhookService } from './webhook-service.ts';

const DELIVERIES = '/v1/agent/sessions/{session_id}/deliveries';

/** What was sent to a team's servers about a session. */
export function webhookRoutes(webhooks: WebhookService): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: DELIVERIES,
      access: 'api_key',
      summary: 'List a session’s webhook deliveries with their attempts',
      tag: 'sessions',
      params: DeliveriesPath,
      reply: { status: 200, schema: WebhookDeliveryList },
      handle: ({ params, caller }) => webhooks.list(params.session_id, caller),
    }),
    route({
      method: 'POST',
      path: `${DELIVERIES}/{delivery_id}/resend`,
      access: 'api_key',
      summary: 'Send a delivered or dropped webhook again',
      tag: 'sessions',
      params: DeliveryPath,
      reply: { status: 202, schema: WebhookDelivery },
      handle: ({ params, caller }) => webhooks.resend(params.session_id, params.delivery_id, caller),
    }),
  ];
}
