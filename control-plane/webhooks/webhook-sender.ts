import type { OutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import { OutgoingError } from '../../shared/outgoing/outgoing-error.ts';
import type { Clock } from '../../shared/time.ts';
import type { Attempt } from './webhook-delivery.ts';
import { SIGNATURE_HEADER, signatureOf } from './webhook-signature.ts';

export const ATTEMPT_DEADLINE_MS = 10_000;
const EXCERPT_BYTES = 512;
const USER_AGENT = 'Parley-Webhooks/1';

export interface WebhookTarget {
  readonly url: string;
  /** In stored form. */
  readonly secret: string | null;
  readonly agentId: string;
}

export interface WebhookSenderDeps {
  readonly outgoing: Pick<OutgoingClient, 'request'>;
  /** A signing key in the clear. Throws when it can't be opened. */
  readonly openSecret: (agentId: string, stored: string) => string;
  readonly clock: Clock;
}

/** Makes single attempts. */
export function createWebhookSender({ outgoing, openSecret, clock }: WebhookSenderDeps) {
  /**
   * Sends the body, signed for this moment, and waits 10 s for the answer: all of it, or its first 512 bytes. A
   * redirect is not followed, since it would lose the body or the signature; it is an answer that isn't 2xx. Null when
   * `signal` cut the attempt off. Throws when the signing key can't be opened.
   */
  async function send(target: WebhookTarget, body: Uint8Array, signal: AbortSignal): Promise<Attempt | null> {
    const secret = target.secret === null ? null : openSecret(target.agentId, target.secret);
    const sentAtMs = clock.nowMs();
    const startMs = clock.monotonicMs();
    const attempt = (part: Pick<Attempt, 'statusCode' | 'excerpt' | 'error'>): Attempt => ({
      sentAtMs,
      latencyMs: Math.round(clock.monotonicMs() - startMs),
      ...part,
    });
    try {
      const answer = await outgoing.request({
        url: target.url,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': USER_AGENT,
          ...(secret === null ? {} : { [SIGNATURE_HEADER]: signatureOf(secret, body, sentAtMs) }),
        },
        body,
        deadlineMs: ATTEMPT_DEADLINE_MS,
        maxBytes: EXCERPT_BYTES,
        maxRedirects: 0,
        signal,
      });
      return attempt({ statusCode: answer.status, excerpt: textOf(answer.body), error: null });
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error;
      if (error.code === 'aborted') return null;
      return attempt({ statusCode: null, excerpt: null, error: error.message });
    }
  }
  return { send };
}
export type WebhookSender = ReturnType<typeof createWebhookSender>;

/** A character that the cut went through is left out. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
