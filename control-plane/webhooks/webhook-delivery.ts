import type { WebhookEventName } from './webhook-event.ts';

/** After the first failure of a round 1 s, after the second 5 s; the third drops the delivery. */
const BACKOFF_MS = [1_000, 5_000] as const;
/** Attempts kept per delivery, the latest ones. */
const ATTEMPTS_KEPT = 12;

/** One request that was made, and what came of it. */
export interface Attempt {
  readonly sentAtMs: number;
  readonly latencyMs: number;
  /** Null when no whole answer came. */
  readonly statusCode: number | null;
  /** The first 512 bytes of the answer as text. */
  readonly excerpt: string | null;
  /** Why there was no answer; null when there was one. */
  readonly error: string | null;
}

/** One event on its way to one endpoint. */
export interface Delivery {
  /** The event's number within its session. */
  readonly seq: number;
  readonly event: WebhookEventName;
  readonly status: 'pending' | 'delivered' | 'dropped';
  readonly createdAtMs: number;
  /** When the next attempt is due; of meaning while pending. */
  readonly dueAtMs: number;
  /** Failed attempts of the present round; sending again begins a new round. */
  readonly failures: number;
  /** How often it was sent again by hand. */
  readonly resends: number;
  readonly attempts: readonly Attempt[];
}

export function newDelivery(seq: number, event: WebhookEventName, nowMs: number): Delivery {
  return {
    seq,
    event,
    status: 'pending',
    createdAtMs: nowMs,
    dueAtMs: nowMs,
    failures: 0,
    resends: 0,
    attempts: [],
  };
}

/** Any 2xx whose answer came in time. */
export function isSuccess({ statusCode, error }: Attempt): boolean {
  return error === null && statusCode !== null && statusCode >= 200 && statusCode < 300;
}

/** The delivery after an attempt that ended at `endedAtMs`; the backoff counts from there. */
export function afterAttempt(delivery: Delivery, attempt: Attempt, endedAtMs: number): Delivery {
  const attempts = [...delivery.attempts, attempt].slice(-ATTEMPTS_KEPT);
  if (isSuccess(attempt)) return { ...delivery, attempts, status: 'delivered' };
  const backoffMs = BACKOFF_MS[delivery.failures];
  const failures = delivery.failures + 1;
  if (backoffMs === undefined) return { ...delivery, attempts, failures, status: 'dropped' };
  return { ...delivery, attempts, failures, dueAtMs: endedAtMs + backoffMs };
}

/**
 * What an endpoint is sent next: events in their order, then what is to be sent again. A later event waits until the
 * earlier one has been delivered or dropped.
 */
export function nextPending(deliveries: Iterable<Delivery>): Delivery | null {
  let next: Delivery | null = null;
  for (const delivery of deliveries) {
    if (delivery.status === 'pending' && (next === null || goesBefore(delivery, next))) next = delivery;
  }
  return next;
}

function goesBefore(a: Delivery, b: Delivery): boolean {
  const [isAgainA, isAgainB] = [a.resends > 0, b.resends > 0];
  return isAgainA === isAgainB ? a.seq < b.seq : isAgainB;
}
