import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveKey, type NamedKey } from '../../shared/secret-box.ts';

const ID_BYTES = 8;
const SECRET_BYTES = 32;
const API_KEY = /^pk_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;

/** A new key: `pk_<public id>_<256 random bits>`. It is shown once and stored nowhere. */
export function newApiKey(): { readonly id: string; readonly apiKey: string } {
  const id = randomBytes(ID_BYTES).toString('hex');
  return { id, apiKey: `pk_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}` };
}

/** The public id within a key, or null when the text has not the form of one. */
export function apiKeyId(apiKey: string): string | null {
  return API_KEY.exec(apiKey)?.[1] ?? null;
}

/** Keyed hashes of API keys: the first master key makes them, all of them check. */
export function createApiKeyHasher(masterKeys: readonly NamedKey[]) {
  const [first] = masterKeys;
  if (!first) throw new Error('an API key hasher needs a key');
  const purpose = 'parley api keys v1';
  const current = deriveKey(first, purpose);
  const keys = new Map(masterKeys.map((key) => [key.id, deriveKey(key, purpose)]));

  const hashWith = (key: NamedKey, apiKey: string) => createHmac('sha256', key.bytes).update(apiKey).digest();

  function hash(apiKey: string): { readonly hash: string; readonly hashKeyId: string } {
    return { hash: hashWith(current, apiKey).toString('hex'), hashKeyId: current.id };
  }

  /** Takes the same time whether the hashes differ early or late. */
  function matches(apiKey: string, stored: { readonly hash: string; readonly hashKeyId: string }): boolean {
    const key = keys.get(stored.hashKeyId);
    if (!key) return false;
    const expected = Buffer.from(stored.hash, 'hex');
    const actual = hashWith(key, apiKey);
    return expected.length === actual.length && timingSafeEqual(expected, actual);
  }

  const isStale = (stored: { readonly hashKeyId: string }) => stored.hashKeyId !== current.id;
  return { hash, matches, isStale };
}
export type ApiKeyHasher = ReturnType<typeof createApiKeyHasher>;
