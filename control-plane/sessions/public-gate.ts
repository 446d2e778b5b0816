import { Failure } from '../../shared/errors.ts';

/** What an anonymous caller's right to an agent depends on. */
export interface PublicAgent {
  readonly isPublic: boolean;
  readonly allowedOrigins: readonly string[];
}

/** Throws the 403 that says why a caller without a key may not reach the agent. */
export function refuseUnlessPublic(agent: PublicAgent, origin: string | null): void {
  if (!agent.isPublic) throw new Failure('forbidden', 'Agent is not public');
  if (origin === null || origin === '') {
    throw new Failure('forbidden', 'Origin header is required for public agents');
  }
  const asked = normalOrigin(origin);
  if (asked === null || !agent.allowedOrigins.some((allowed) => normalOrigin(allowed) === asked)) {
    throw new Failure('forbidden', 'Origin not allowed');
  }
}

/** Scheme, host in lower case, and port when it isn't the scheme's own; null for what isn't an origin (RFC 6454). */
function normalOrigin(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isBare = (url.pathname === '/' || url.pathname === '') && !url.search && !url.hash && !url.username;
  return isBare && url.host !== '' ? `${url.protocol}//${url.host.toLowerCase()}` : null;
}
