import type { Readable } from 'node:stream';
import type { Clock } from '../time.ts';
import { OutgoingError } from './outgoing-error.ts';

/** The first `maxBytes` of the body. The rest is not read: the connection is cut. */
export async function collectBody(
  source: Readable,
  maxBytes: number,
): Promise<{ body: Buffer; isTruncated: boolean }> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of source as AsyncIterable<Buffer>) {
    const room = maxBytes - size;
    pieces.push(piece.length > room ? piece.subarray(0, room) : piece);
    if (piece.length > room) return { body: Buffer.concat(pieces), isTruncated: true };
    size += piece.length;
  }
  return { body: Buffer.concat(pieces), isTruncated: false };
}

export interface BodyLimits {
  readonly maxBytes: number;
  readonly idleMs: number;
  readonly clock: Clock;
}

/** The body piece by piece; throws `too_large` past `maxBytes`, `timed_out` after `idleMs` without a piece. */
export async function* limitedBody(source: Readable, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  const pieces = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let size = 0;
  try {
    for (;;) {
      const next = await withinIdleLimit(pieces.next(), limits);
      if (next.done) return;
      size += next.value.length;
      if (size > limits.maxBytes) throw new OutgoingError('too_large');
      yield next.value;
    }
  } finally {
    source.on('error', () => {}).destroy();
  }
}

async function withinIdleLimit<T>(work: Promise<T>, limits: BodyLimits): Promise<T> {
  const came = new AbortController();
  const silence = limits.clock.sleep(limits.idleMs, came.signal).then(() => {
    if (came.signal.aborted) return new Promise<never>(() => {});
    throw new OutgoingError('timed_out');
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    came.abort();
  }
}
