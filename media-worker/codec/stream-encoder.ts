/** One stream of mono PCM on its way into bytes. Lives in the codec thread; every call is synchronous and short. */
export interface StreamEncoder {
  /** At most a second of samples at the format's rate; answers the bytes that are ready, with a buffer of their own. */
  encode(samples: Int16Array): Uint8Array;
  /** Brings out all that was encoded, filled up with silence; the stream may go on afterwards. */
  settle(): Uint8Array;
  /** Ends the stream: the rest of it. Nothing may follow. */
  finish(): Uint8Array;
}

export const NO_BYTES = new Uint8Array(0);

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
