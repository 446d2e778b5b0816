import { randomBytes } from 'node:crypto';

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
/** The 48 bits of a UUIDv7 reach into the year 10889. */
const MAX_ID_MS = 2 ** 48 - 1;

/** 32 lower-case hex characters: agents, tools, knowledge sources, phone numbers, voices, versions. */
export function newId(): string {
  return randomBytes(16).toString('hex');
}

/**
 * `ses_` + 26 Crockford base32 characters of a UUIDv7 (RFC 9562): ids sort by their time of creation, also
 * within one millisecond on one process as far as 74 random bits allow.
 */
export function newSessionId(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return toSessionId(bytes);
}

/** Sorts before every session id of this millisecond or later, and after every id of an earlier one. */
export function sessionIdBound(atMs: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.min(Math.max(Math.ceil(atMs), 0), MAX_ID_MS), 0, 6);
  return toSessionId(bytes);
}

function toSessionId(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = CROCKFORD.charAt(Number(value & 31n)) + text;
    value >>= 5n;
  }
  return `ses_${text}`;
}
