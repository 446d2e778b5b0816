import { Failure } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';
import {
  childTrace,
  formatTraceparent,
  parseTraceparent,
  type TraceContext,
} from '../../../shared/trace-context.ts';
import type { SpeechCaller } from '../../speech/speech-admission.ts';
import { UnreadableBody } from '../../speech/speech-body.ts';
import { bearerToken } from '../bearer-token.ts';
import { failureReply, textReply } from '../failure-reply.ts';
import type { HttpReply, HttpRequest, HttpRoute, RequestHead } from '../socket-server.ts';

/** Who calls, and where the request lies in the caller's trace. */
export interface SpeechRequestContext {
  readonly caller: SpeechCaller;
  readonly trace: TraceContext;
}

export interface SpeechRouteDeps {
  /** Throws `Failure` `invalid_token` or `unavailable`. */
  readonly identify: (apiKey: string) => Promise<SpeechCaller>;
  readonly report: (error: unknown) => void;
}

/** Answered with a bare 415: a missing body, or one of another media type. */
export class WrongMediaType extends Error {
  constructor() {
    super('the body is missing or of another media type');
    this.name = 'WrongMediaType';
  }
}

export interface SpeechRoute {
  readonly path: string;
  readonly maxBodyBytes: number;
  handle(request: HttpRequest, context: SpeechRequestContext): Promise<HttpReply>;
}

/** A POST of the speech surface: its caller is known, its refusals have their forms, its replies carry ids. */
export function speechRoute(deps: SpeechRouteDeps, route: SpeechRoute): HttpRoute {
  async function answer(request: HttpRequest, trace: TraceContext): Promise<HttpReply> {
    try {
      const apiKey = bearerToken(request);
      if (apiKey === null) return { status: 401, headers: { 'www-authenticate': 'Bearer' } };
      return await route.handle(request, { caller: await deps.identify(apiKey), trace });
    } catch (error) {
      return refusal(error, deps.report);
    }
  }

  return {
    method: 'POST',
    path: route.path,
    maxBodyBytes: route.maxBodyBytes,
    handle: async (request) => {
      const trace = childTrace(parseTraceparent(request.header('traceparent')));
      const reply = await answer(request, trace);
      const ids = { 'x-request-id': requestIdOf(request), traceparent: formatTraceparent(trace) };
      return { ...reply, headers: { ...ids, ...reply.headers } };
    },
  };
}

/** The reply for whatever a speech request was refused with or failed on. */
export function refusal(error: unknown, report: (error: unknown) => void): HttpReply {
  if (error instanceof WrongMediaType) return { status: 415 };
  if (error instanceof UnreadableBody) return textReply(400, error.message);
  if (error instanceof Failure && error.kind === 'payload_too_large')
    return failureReply(new Failure('payload_too_large', 'Payload too large', { cause: error }), report);
  if (error instanceof Failure && error.kind === 'unprocessable' && error.issues.length === 0)
    return failureReply(withIssue(error), report);
  const reply = failureReply(error, report);
  if (!(error instanceof Failure) || error.kind !== 'invalid_token') return reply;
  return { ...reply, headers: { ...reply.headers, 'www-authenticate': 'Bearer error="invalid_token"' } };
}

/** Every 422 is a list; what an engine refuses lies in the text or its voice. */
function withIssue(error: Failure): Failure {
  const issue = { type: 'value_error', loc: ['body'], msg: `Value error, ${error.message}`, ctx: {} };
  return new Failure('unprocessable', error.message, { issues: [issue], cause: error });
}

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id where it is sane, else a new one. */
export function requestIdOf(head: RequestHead): string {
  const claimed = head.header('x-request-id') ?? '';
  return SANE_REQUEST_ID.test(claimed) ? claimed : newId();
}

/** The media type of the body without its parameters, in lower case. */
export function mediaTypeOf(head: RequestHead): string {
  return head.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
}
