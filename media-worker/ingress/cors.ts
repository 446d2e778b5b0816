import type { RequestHead } from './socket-server.ts';

/**
 * Lets pages of any origin call: every request carries its own token, no cookie ever does. On every reply, since a
 * browser shows a page the status of a refusal only with these.
 */
export function corsHeaders(head: RequestHead): Record<string, string> {
  const common = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'Location, Link, ETag, Accept-Patch, Retry-After',
  };
  if (head.method !== 'OPTIONS') return common;
  return {
    ...common,
    'access-control-allow-methods': 'GET, POST, PATCH, DELETE, OPTIONS',
    'access-control-allow-headers':
      head.header('access-control-request-headers') ?? 'authorization, content-type',
    'access-control-max-age': '86400',
  };
}
