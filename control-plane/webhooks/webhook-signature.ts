import { createHmac } from 'node:crypto';

export const SIGNATURE_HEADER = 'X-Service-Webhook-Signature';

/**
 * The signature header: `t=<unix seconds>,v1=<hex>`, where `v1` is the HMAC-SHA256 of `<t>.` followed by the raw body,
 * keyed with the endpoint's secret.
 */
export function signatureOf(secret: string, body: Uint8Array, sentAtMs: number): string {
  const t = Math.floor(sentAtMs / 1000);
  const v1 = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  return `t=${t},v1=${v1}`;
}
