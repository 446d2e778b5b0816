import { Failure } from '../../shared/errors.ts';
import type { Access, Caller, KeyCaller } from './route.ts';

/** Says whose key it is. Throws `Failure` invalid_token (`Invalid token`, `Token expired`). */
export type Authenticate = (apiKey: string) => Promise<KeyCaller>;

/** Answered with a bare 401: no `Authorization` header where one is needed, or one that isn't `Bearer <token>`. */
export class CredentialsMissing extends Error {
  constructor() {
    super('credentials are missing or malformed');
    this.name = 'CredentialsMissing';
  }
}

// RFC 6750 2.1: scheme (any case), one or more spaces, a b64token.
const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;
const MAX_TOKEN_CHARS = 4096;

export interface ClientFacts {
  readonly authorization: string | undefined;
  readonly origin: string | null;
  readonly clientIp: string;
}

/** Who is calling, as far as the route wants to know. Throws `CredentialsMissing` or `Failure` invalid_token. */
export async function identify(
  access: Access,
  client: ClientFacts,
  authenticate: Authenticate,
): Promise<Caller | null> {
  if (access === 'open') return null;
  if (client.authorization === undefined) {
    if (access === 'api_key') throw new CredentialsMissing();
    return { kind: 'anonymous', origin: client.origin, clientIp: client.clientIp };
  }
  const token = BEARER.exec(client.authorization.trim())?.[1];
  if (token === undefined) throw new CredentialsMissing();
  if (token.length > MAX_TOKEN_CHARS) throw new Failure('invalid_token', 'Invalid token');
  return authenticate(token);
}
