import type { Middleware } from 'koa';
import { Failure } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { DeadlineExceeded } from '../../shared/time.ts';
import { CoordinationUnavailable } from '../coordination/coordination.ts';
import { StoreUnavailable } from '../storage/collection.ts';

/** Seconds after which a client that got a 503 may try again. */
const RETRY_AFTER_S = 1;

/** The only place where an error becomes a reply. Unknown errors say nothing to the caller and everything to the log. */
export function failureMiddleware(log: Logger): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const failure = toFailure(error, log);
      // A partly built reply may have left headers behind; CORS and request id stay.
      ctx.remove('Content-Type');
      ctx.status = failure?.status ?? 500;
      if (failure?.retryAfterS != null) ctx.set('Retry-After', String(failure.retryAfterS));
      if (failure?.kind === 'invalid_token') ctx.set('WWW-Authenticate', 'Bearer error="invalid_token"');
      ctx.body =
        failure && failure.issues.length > 0
          ? failure.issues
          : failureBody(ctx.status, failure?.message ?? 'Internal error', failure?.reason ?? null);
    }
  };
}

export function failureBody(status: number, message: string, reason: string | null = null) {
  return { status, message, reason };
}

function toFailure(error: unknown, log: Logger): Failure | null {
  if (error instanceof Failure) return error;
  if (
    error instanceof StoreUnavailable ||
    error instanceof CoordinationUnavailable ||
    error instanceof DeadlineExceeded
  ) {
    log.warn({ err: error }, 'a dependency did not answer; the request was refused with 503');
    return new Failure('unavailable', 'Service temporarily unavailable', {
      retryAfterS: RETRY_AFTER_S,
      cause: error,
    });
  }
  log.error({ err: error }, 'a request failed on an unexpected error');
  return null;
}
