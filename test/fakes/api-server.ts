import type { Authenticate } from '../../control-plane/http/authentication.ts';
import { bindRoutes } from '../../control-plane/http/bind-routes.ts';
import { createHttpMetrics } from '../../control-plane/http/http-metrics.ts';
import { createHttpServer } from '../../control-plane/http/http-server.ts';
import { createRequestScope, scopedLogger } from '../../control-plane/http/request-scope.ts';
import type { AnyRoute, KeyCaller } from '../../control-plane/http/route.ts';
import { Failure } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';

/** What `bearer('good')` authenticates as. */
export const goodCaller: KeyCaller = {
  kind: 'api_key',
  workspaceId: 'w1',
  userId: 'u1',
  keyId: 'k1',
  hasBetaAccess: true,
};

const authenticate: Authenticate = async (key) => {
  if (key === 'good') return goodCaller;
  throw new Failure('invalid_token', key === 'old' ? 'Token expired' : 'Invalid token');
};

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/** A log that keeps its lines. */
export function recordingLogger(lines: LogLine[]): Logger {
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, message, fields: { ...fields } });
  };
  const log: Logger = {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: () => log,
  };
  return log;
}

export interface ApiServerOptions {
  readonly trustedProxyHops?: number;
  readonly replyCheck?: 'refuse' | 'report';
  readonly authenticate?: Authenticate;
}

/** The control plane's HTTP core with these routes, on a free port of loopback. */
export async function startApiServer(routes: readonly AnyRoute[], options: ApiServerOptions = {}) {
  const lines: LogLine[] = [];
  const scope = createRequestScope();
  const metrics = createHttpMetrics();
  const app = bindRoutes(routes, {
    authenticate,
    clock: systemClock,
    log: scopedLogger(recordingLogger(lines), scope),
    maxBodyBytes: 1_000_000,
    trustedProxyHops: 0,
    replyCheck: 'refuse',
    scope,
    metrics,
    ...options,
  });
  const server = createHttpServer(app.callback(), {
    host: '127.0.0.1',
    port: 0,
    setting: 'PARLEY_PORT',
    clock: systemClock,
  });
  const port = await server.start();
  const baseUrl = `http://127.0.0.1:${port}`;

  return {
    baseUrl,
    port,
    lines,
    metrics,
    stop: server.stop,
    /** A request with the good key, JSON unless `init` says otherwise. */
    ask: (path: string, init: RequestInit = {}) =>
      fetch(`${baseUrl}${path}`, {
        ...init,
        headers: {
          authorization: 'Bearer good',
          ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...init.headers,
        },
      }),
  };
}
export type ApiServer = Awaited<ReturnType<typeof startApiServer>>;
