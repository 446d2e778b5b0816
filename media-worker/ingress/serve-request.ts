import { Failure } from '../../shared/errors.ts';
import { failureReply, jsonReply } from './failure-reply.ts';
import { matchHttpRoute } from './route-table.ts';
import type { HttpReply, HttpRequest, HttpRoute, RequestHead, SocketServerOptions } from './socket-server.ts';

/** The route of a request, or the reply that says why there is none. */
export function findRoute(
  options: SocketServerOptions,
  method: string,
  path: string,
): { readonly route: HttpRoute; readonly params: Readonly<Record<string, string>> } | HttpReply {
  const match = matchHttpRoute(options.http, method, path);
  if (match === 'no_path') return failureReply(new Failure('not_found', 'Not found'), options.report);
  if ('allowed' in match) {
    const allow = match.allowed.join(', ');
    if (method === 'OPTIONS') return { status: 204, headers: { allow } };
    const refusal = failureReply(new Failure('method_not_allowed', 'Method not allowed'), options.report);
    return { ...refusal, headers: { ...refusal.headers, allow } };
  }
  return match;
}

/** Runs the handler; whatever it throws becomes a reply. */
export async function runRoute(
  route: HttpRoute,
  request: HttpRequest,
  report: (error: unknown) => void,
): Promise<HttpReply> {
  try {
    return await route.handle(request);
  } catch (error) {
    return failureReply(error, report);
  }
}

/** The reply's headers with those of every reply. The route's own win. */
export function replyHeaders(
  options: SocketServerOptions,
  head: RequestHead,
  reply: HttpReply,
): Record<string, string> {
  return { ...options.headersFor(head), ...reply.headers };
}

export function isStream(body: HttpReply['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}

export function headersTooLarge(): HttpReply {
  return jsonReply(431, { status: 431, message: 'Request header fields too large', reason: null });
}
