import { Failure } from '../../shared/errors.ts';
import type { Clock } from '../../shared/time.ts';
import type { KeyCaller } from '../http/route.ts';
import type { AccountStore } from './account-store.ts';
import { type ApiKeyHasher, apiKeyId } from './api-key.ts';
import type { ApiKeyStore } from './api-key-store.ts';

/** A revoked key may still work for this long. */
const CACHE_MS = 1_000;
/** When full, the entry that was made first goes. */
const CACHE_ENTRIES = 10_000;

export interface KeyAuthenticationDeps {
  readonly keys: ApiKeyStore;
  readonly accounts: AccountStore;
  readonly hasher: ApiKeyHasher;
  readonly clock: Clock;
}

interface Known {
  readonly apiKey: string;
  readonly caller: KeyCaller;
  readonly keyExpiresAtMs: number | null;
  readonly freshUntilMs: number;
}

/** Says whose API key it is. Good answers are kept for a second; refusals are never kept. */
export function createKeyAuthentication({ keys, accounts, hasher, clock }: KeyAuthenticationDeps) {
  const known = new Map<string, Known>();

  /** Throws `Failure` invalid_token: `Token expired` for a key past its time, `Invalid token` for all else. */
  async function authenticate(apiKey: string): Promise<KeyCaller> {
    const keyId = apiKeyId(apiKey);
    if (keyId === null) throw new Failure('invalid_token', 'Invalid token');
    const cached = known.get(keyId);
    if (cached && cached.apiKey === apiKey && clock.monotonicMs() < cached.freshUntilMs) {
      refuseExpired(cached.keyExpiresAtMs);
      return cached.caller;
    }
    const fresh = await lookUp(keyId, apiKey);
    remember(keyId, fresh);
    return fresh.caller;
  }

  async function lookUp(keyId: string, apiKey: string): Promise<Known> {
    const key = await keys.find(keyId);
    if (!key || !hasher.matches(apiKey, key) || key.revokedAtMs !== null) {
      throw new Failure('invalid_token', 'Invalid token');
    }
    refuseExpired(key.expiresAtMs);
    const [workspace, user, isMember] = await Promise.all([
      accounts.findWorkspace(key.workspaceId),
      accounts.findUser(key.userId),
      accounts.isMember(key.workspaceId, key.userId),
    ]);
    if (!workspace || !user || !isMember) throw new Failure('invalid_token', 'Invalid token');
    if (hasher.isStale(key)) {
      const { hash, hashKeyId } = hasher.hash(apiKey);
      await keys.updateHash(keyId, hash, hashKeyId);
    }
    return {
      apiKey,
      keyExpiresAtMs: key.expiresAtMs,
      freshUntilMs: clock.monotonicMs() + CACHE_MS,
      caller: {
        kind: 'api_key',
        workspaceId: key.workspaceId,
        userId: key.userId,
        keyId,
        hasBetaAccess: workspace.hasBetaAccess || user.hasBetaAccess,
      },
    };
  }

  function refuseExpired(expiresAtMs: number | null): void {
    if (expiresAtMs !== null && clock.nowMs() >= expiresAtMs)
      throw new Failure('invalid_token', 'Token expired');
  }

  function remember(keyId: string, entry: Known): void {
    known.delete(keyId);
    known.set(keyId, entry);
    if (known.size > CACHE_ENTRIES) {
      const [oldest] = known.keys();
      if (oldest !== undefined) known.delete(oldest);
    }
  }

  return { authenticate };
}
