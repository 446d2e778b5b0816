import type { IncomingMessage } from 'node:http';

/** A body this many times the limit is still read and thrown away, so that the client gets to see its 413. */
const DISCARD_FACTOR = 8;

/**
 * The whole body, or null when it is longer than `limitBytes`: the rest is then dropped as it comes, up to eight
 * times the limit, and left unread past that (`request.complete` tells which). Rejects when the client goes away.
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | null> {
  const declaredBytes = Number(request.headers['content-length'] ?? 0);
  if (declaredBytes > limitBytes * DISCARD_FACTOR) return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let receivedBytes = 0;
    const finish = (body: Buffer | null) => {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      resolve(body);
    };
    const onData = (chunk: Buffer) => {
      receivedBytes += chunk.length;
      if (receivedBytes <= limitBytes) chunks.push(chunk);
      else chunks = [];
      if (receivedBytes > limitBytes * DISCARD_FACTOR) {
        request.pause();
        finish(null);
      }
    };
    const onEnd = () => finish(receivedBytes > limitBytes ? null : Buffer.concat(chunks));
    const onGone = () => reject(new ClientGone());
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/** The client closed the connection before its request was complete; nobody is left to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client went away');
    this.name = 'ClientGone';
  }
}
