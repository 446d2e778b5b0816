import type { IncomingMessage } from 'node:http';

/**
 * The caller's address. Behind `trustedHops` reverse proxies it is what the outermost of them wrote into
 * `X-Forwarded-For`; entries further left come from the caller and are not believed.
 */
export function clientAddress(request: IncomingMessage, trustedHops: number): string {
  const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',');
  const chain = forwarded
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const claimed = trustedHops > 0 ? chain.at(-trustedHops) : undefined;
  const address = claimed ?? request.socket.remoteAddress ?? 'unknown';
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}
