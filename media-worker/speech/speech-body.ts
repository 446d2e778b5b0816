import { decode } from '@msgpack/msgpack';

/** Deeper values could overflow the stack of whatever walks them. */
const MAX_DEPTH = 16;
const LONGEST_LIST = 10_000;

/** The bytes are not what their media type says. The message is for the caller, as plain text. */
export class UnreadableBody extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'UnreadableBody';
  }
}

/** Reads a MessagePack value. Throws `UnreadableBody`. Binary parts are views of `bytes`. */
export function readMessagePack(bytes: Uint8Array): unknown {
  try {
    const value = decode(bytes, {
      maxArrayLength: LONGEST_LIST,
      maxMapLength: LONGEST_LIST,
      maxExtLength: 0,
      useBigInt64: false,
    });
    refuseDeep(value);
    return value;
  } catch (cause) {
    throw new UnreadableBody(`Failed to parse MessagePack body: ${reasonOf(cause)}`, cause);
  }
}

/** Reads a JSON text in UTF-8 (RFC 8259). Throws `UnreadableBody`. */
export function readJson(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    refuseDeep(value);
    return value;
  } catch (cause) {
    // The parser's own words would repeat what was sent.
    const reason =
      cause instanceof TypeError
        ? 'it is not UTF-8'
        : cause instanceof SyntaxError
          ? 'it is not JSON'
          : reasonOf(cause);
    throw new UnreadableBody(`Failed to parse JSON body: ${reason}`, cause);
  }
}

function refuseDeep(root: unknown): void {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new Error('it is nested too deeply');
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) continue;
      if (Object.hasOwn(value, '__proto__')) throw new Error('it has a key that is not allowed');
      for (const child of Object.values(value)) if (typeof child === 'object') next.push(child);
    }
    level = next;
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof RangeError
    ? 'it ends too early or is too large'
    : cause instanceof Error
      ? cause.message.slice(0, 200)
      : 'it is not readable';
}
