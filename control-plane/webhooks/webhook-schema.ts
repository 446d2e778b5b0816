import { type Static, Type } from 'typebox';

const NullableText = Type.Union([Type.Null(), Type.String()]);
const Timestamp = Type.String({ format: 'date-time' });

export const DeliveriesPath = Type.Object({ session_id: Type.String() });
export const DeliveryPath = Type.Object({ session_id: Type.String(), delivery_id: Type.String() });

const DeliveryAttempt = Type.Object({
  sent_at: Timestamp,
  latency_ms: Type.Integer(),
  /** Null when no whole answer came within 10 s. */
  status_code: Type.Union([Type.Null(), Type.Integer()]),
  /** The first 512 bytes of the answer. */
  response_excerpt: NullableText,
  /** Why there was no answer. */
  error: NullableText,
});

export const WebhookDelivery = Type.Object({
  delivery_id: Type.String(),
  event: Type.String(),
  url: Type.String(),
  /** `pending`, `delivered`, or `dropped` after three failed attempts. */
  status: Type.Enum(['pending', 'delivered', 'dropped']),
  created_at: Timestamp,
  /** Null unless pending. */
  next_attempt_at: Type.Union([Type.Null(), Timestamp]),
  resends: Type.Integer(),
  /** The latest twelve, oldest first. */
  attempts: Type.Array(DeliveryAttempt),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookDeliveryList = Type.Object({ deliveries: Type.Array(WebhookDelivery) });
export type WebhookDeliveryList = Static<typeof WebhookDeliveryList>;
