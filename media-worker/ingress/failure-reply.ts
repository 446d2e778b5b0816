import { Failure } from '../../shared/errors.ts';
import type { HttpReply } from './socket-server.ts';

/** The reply for anything thrown: a `Failure` speaks for itself, the rest says nothing to the client. */
export function failureReply(error: unknown, report: (error: unknown) => void): HttpReply {
  if (!(error instanceof Failure)) {
    report(error);
    return jsonReply(500, { status: 500, message: 'Internal error', reason: null });
  }
  if (error.issues.length > 0) return jsonReply(error.status, error.issues);
  const reply = jsonReply(error.status, {
    status: error.status,
    message: error.message,
    reason: error.reason,
  });
  if (error.retryAfterS === null) return reply;
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(error.retryAfterS) } };
}

export function jsonReply(status: number, value: unknown): HttpReply {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

export function textReply(status: number, text: string): HttpReply {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: text };
}
