import { Failure } from '../../shared/errors.ts';

/** Deeper values could overflow the stack of whatever walks them later. */
const MAX_DEPTH = 64;

/**
 * Parses a JSON text (RFC 8259, UTF-8). Throws `Failure` 400 `Malformed JSON` for anything else, for values nested
 * deeper than 64, and for keys that would reach an object's prototype when copied.
 */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (!isSafe(value)) throw new Error('unsafe key or nesting');
    return value;
  } catch (cause) {
    throw new Failure('bad_request', 'Malformed JSON', { cause });
  }
}

function isSafe(root: unknown): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return false;
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      if (Object.hasOwn(value, '__proto__')) return false;
      if (Object.hasOwn(value, 'constructor')) {
        const inner: unknown = Reflect.get(value, 'constructor');
        if (typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype')) return false;
      }
      for (const child of Object.values(value)) if (typeof child === 'object') next.push(child);
    }
    level = next;
  }
  return true;
}
