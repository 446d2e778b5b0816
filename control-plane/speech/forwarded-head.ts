import type { IncomingMessage } from 'node:http';

/** Headers of one connection, which end at this hop (RFC 9110 7.6.1). */
const HOP_HEADERS = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Name and value pairs as they came, names in their own case, without those of this connection. */
export function endToEndHeaders(message: IncomingMessage): [string, string][] {
  const named = (message.headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  return pairs(message).filter(([name]) => {
    const lower = name.toLowerCase();
    return !HOP_HEADERS.has(lower) && !named.includes(lower);
  });
}

/** All of them, for a connection that becomes one with the next. */
export function pairs(message: IncomingMessage): [string, string][] {
  const list: [string, string][] = [];
  for (let i = 0; i + 1 < message.rawHeaders.length; i += 2) {
    list.push([message.rawHeaders[i] ?? '', message.rawHeaders[i + 1] ?? '']);
  }
  return list;
}

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's request id where it is sane, else a new one. */
export function requestIdOf(message: IncomingMessage, newId: () => string): string {
  const claimed = message.headers['x-request-id'];
  return typeof claimed === 'string' && SANE_REQUEST_ID.test(claimed) ? claimed : newId();
}
