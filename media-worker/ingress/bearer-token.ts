import type { RequestHead } from './socket-server.ts';

/** The token of an `Authorization: Bearer` header (RFC 6750), or null. */
export function bearerToken(head: RequestHead): string | null {
  return /^Bearer +(\S+)$/i.exec(head.header('authorization') ?? '')?.[1] ?? null;
}
