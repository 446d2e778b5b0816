import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** A sealed text that can't be opened: unknown key, other context, or changed on the way. Never says which text. */
export class UnreadableSecret extends Error {
  constructor(why: string, cause?: unknown) {
    super(`sealed value can't be opened: ${why}`, { cause });
    this.name = 'UnreadableSecret';
  }
}

/** A 256-bit key with the id that sealed texts and keyed hashes carry, so that keys can be rotated. */
export interface NamedKey {
  /** First 8 hex digits of the key's SHA-256: follows from the key, says nothing about it. */
  readonly id: string;
  readonly bytes: Buffer;
}

/**
 * Reads `base64,base64,…`: the first key seals, all of them open. To rotate, put the new key in front and drop the
 * old one when nothing sealed by it is left. Throws a plain Error that names the position, never the value.
 */
export function parseKeyList(text: string): readonly NamedKey[] {
  return text.split(',').map((part, index) => {
    const bytes = Buffer.from(part.trim(), 'base64');
    if (bytes.length !== KEY_BYTES) throw new Error(`key ${index + 1} is not ${KEY_BYTES} bytes of base64`);
    return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes };
  });
}

/** A key for one purpose alone, made from a master key (HKDF, RFC 5869); it keeps the master key's id. */
export function deriveKey(master: NamedKey, purpose: string): NamedKey {
  return { id: master.id, bytes: Buffer.from(hkdfSync('sha256', master.bytes, '', purpose, KEY_BYTES)) };
}

/**
 * Seals short texts with AES-256-GCM as `v1.<key id>.<base64url(nonce ‖ ciphertext ‖ tag)>`. `context` says where the
 * text belongs (such as `agent:<id>:llm.custom.api_key`): a sealed value moved elsewhere doesn't open.
 */
export function createSecretBox(keys: readonly NamedKey[]) {
  const [sealing] = keys;
  if (!sealing) throw new Error('a secret box needs a key');
  const purpose = 'parley secret box v1';
  const sealingKey = deriveKey(sealing, purpose);
  const openingKeys = new Map(keys.map((key) => [key.id, deriveKey(key, purpose)]));

  function seal(text: string, context: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', sealingKey.bytes, nonce);
    cipher.setAAD(Buffer.from(context));
    const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `v1.${sealingKey.id}.${body.toString('base64url')}`;
  }

  /** Throws `UnreadableSecret`. */
  function open(sealed: string, context: string): string {
    const [version, keyId = '', encoded = ''] = sealed.split('.');
    if (version !== 'v1') throw new UnreadableSecret('unknown version');
    const key = openingKeys.get(keyId);
    if (!key) throw new UnreadableSecret(`no key ${keyId}`);
    const body = Buffer.from(encoded, 'base64url');
    if (body.length < NONCE_BYTES + TAG_BYTES) throw new UnreadableSecret('too short');
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, body.subarray(0, NONCE_BYTES));
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(body.subarray(-TAG_BYTES));
    try {
      const text = decipher.update(body.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new UnreadableSecret('wrong context or changed', cause);
    }
  }

  /** True when the value was sealed by a key that is no longer the first: seal it again at the next write. */
  function isStale(sealed: string): boolean {
    return sealed.split('.')[1] !== sealingKey.id;
  }

  return { seal, open, isStale };
}
