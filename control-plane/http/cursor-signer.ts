import { createHmac, timingSafeEqual } from 'node:crypto';
import type { NamedKey } from '../../shared/secret-box.ts';

const VERSION = 1;
const MAC_BYTES = 16;
const MAX_CURSOR_CHARS = 2048;

/** The values of the last row's sort fields, in their order. */
export type SortKey = readonly (string | number)[];

/**
 * Cursors that callers can't make or change: base64url of version ‖ truncated HMAC-SHA256 ‖ JSON of the sort key.
 * The HMAC covers `scope` (list and workspace), so a cursor opens only the list it came from.
 */
export function createCursorSigner(key: NamedKey) {
  function macOf(scope: string, payload: Buffer): Buffer {
    const mac = createHmac('sha256', key.bytes).update(`${VERSION}\n${scope}\n`).update(payload).digest();
    return mac.subarray(0, MAC_BYTES);
  }

  function sign(scope: string, sortKey: SortKey): string {
    const payload = Buffer.from(JSON.stringify(sortKey));
    return Buffer.concat([Buffer.of(VERSION), macOf(scope, payload), payload]).toString('base64url');
  }

  /** Null for anything that `sign` didn't make for this scope. */
  function read(scope: string, cursor: string): SortKey | null {
    if (cursor.length > MAX_CURSOR_CHARS || !/^[A-Za-z0-9_-]+$/.test(cursor)) return null;
    const bytes = Buffer.from(cursor, 'base64url');
    if (bytes.length <= 1 + MAC_BYTES || bytes[0] !== VERSION) return null;
    const payload = bytes.subarray(1 + MAC_BYTES);
    if (!timingSafeEqual(bytes.subarray(1, 1 + MAC_BYTES), macOf(scope, payload))) return null;
    // The HMAC proves that this text was written by `sign`.
    return JSON.parse(payload.toString('utf8')) as SortKey;
  }

  return { sign, read };
}
export type CursorSigner = ReturnType<typeof createCursorSigner>;
