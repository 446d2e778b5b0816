import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { Failure } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import {
  childTrace,
  formatTraceparent,
  parseTraceparent,
  type TraceContext,
} from '../../shared/trace-context.ts';
import { allowAnyOrigin, answerPreflight, isPreflight } from './cross-origin.ts';
import { failureMiddleware } from './failure-middleware.ts';
import type { HttpMetrics } from './http-metrics.ts';
import type { RequestScope } from './request-scope.ts';
import type { AnyRoute } from './route.ts';
import { answerBare, createRouteHandler, type RouteHandlerDeps } from './route-handler.ts';

export interface BindRoutesDeps extends RouteHandlerDeps {
  readonly scope: RequestScope;
  readonly metrics: HttpMetrics;
  /** Each answers the paths of its web page and hands every other one on. */
  readonly pages?: readonly Middleware[];
}

/** What the outer middleware learns for the inner ones. */
interface RequestState {
  requestId: string;
  trace: TraceContext;
  /** Template of the matched route. */
  route: string;
}

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * An HTTP application of these routes. A request meets, in this order: request id and trace, pages, 404, preflight, 405,
 * 401, 415, 413, 400, 422, the handler, and the check of its reply. Throws at once when a route's path and its
 * parameters' schema don't fit.
 */
export function bindRoutes(routes: readonly AnyRoute[], deps: BindRoutesDeps): Koa<RequestState> {
  const app = new Koa<RequestState>();
  app.on('error', (error) => deps.log.error({ err: error }, 'a reply could not be written'));
  app.use(requestScopeMiddleware(deps));
  app.use(failureMiddleware(deps.log));
  for (const page of deps.pages ?? []) app.use(page);
  app.use(knownPathMiddleware(routes, deps) as Middleware);
  return app;
}

/** Request id and trace for everything inside, one metric and one debug line when the reply is out. */
function requestScopeMiddleware(deps: BindRoutesDeps): Middleware<RequestState> {
  return async (ctx, next) => {
    const startedMs = deps.clock.monotonicMs();
    const claimedId = ctx.get('X-Request-Id');
    const requestId = SANE_REQUEST_ID.test(claimedId) ? claimedId : newId();
    const trace = childTrace(parseTraceparent(ctx.get('traceparent')));
    Object.assign(ctx.state, { requestId, trace, route: 'unmatched' });
    ctx.set('X-Request-Id', requestId);
    await deps.scope.run({ request_id: requestId, trace_id: trace.traceId }, async () => {
      ctx.res.once('close', () => {
        const durationMs = deps.clock.monotonicMs() - startedMs;
        const { route } = ctx.state;
        const method = route === 'unmatched' ? 'any' : ctx.method;
        deps.metrics.observe(method, route, ctx.status, durationMs);
        deps.log.debug({ method: ctx.method, route, status: ctx.status, durationMs }, 'request done');
      });
      await next();
    });
  };
}

function knownPathMiddleware(routes: readonly AnyRoute[], deps: BindRoutesDeps): Middleware<RequestState> {
  const table = createTable(routes, createRouteHandler(deps));
  return async (ctx) => {
    const found = table.find(ctx.path);
    if (!found) throw new Failure('not_found', 'Not found');
    const { methods, isCrossOrigin } = found;
    if (isCrossOrigin && isPreflight(ctx)) return answerPreflight(ctx, methods);
    if (isCrossOrigin) allowAnyOrigin(ctx);
    const entry = found.entry(ctx.method === 'HEAD' ? 'GET' : ctx.method);
    if (!entry) return answerOtherMethod(ctx, methods);
    ctx.state.route = entry.route.path;
    const { requestId, trace } = ctx.state;
    try {
      await entry.handle(ctx, {
        params: found.params(ctx.path),
        requestId,
        traceparent: formatTraceparent(trace),
      });
    } catch (error) {
      if (!answerBare(ctx, error)) throw error;
    }
  };
}

/** 405 with `Allow` for every method the path doesn't have, TRACE too; OPTIONS only lists them (RFC 9110 9.3.7). */
function answerOtherMethod(ctx: Context, methods: readonly string[]): void {
  ctx.set('Allow', methods.join(', '));
  if (ctx.method !== 'OPTIONS') throw new Failure('method_not_allowed', 'Method not allowed');
  ctx.status = 204;
}

type Handle = ReturnType<ReturnType<typeof createRouteHandler>>;

/** Finds by path first and by method second, so that 404 and 405 can be told apart. */
function createTable(routes: readonly AnyRoute[], handlerOf: (route: AnyRoute) => Handle) {
  const router = new Router({ strict: true, sensitive: true });
  const entries = new Map<string, { readonly route: AnyRoute; readonly handle: Handle }>();
  const byTemplate = new Map<string, AnyRoute[]>();
  for (const route of routes) byTemplate.set(route.path, [...(byTemplate.get(route.path) ?? []), route]);
  for (const [template, ofPath] of byTemplate) {
    const path = template.replaceAll(/\{(\w+)\}/g, ':$1');
    router.register(path, ['GET'], async () => {}, { name: template });
    for (const route of ofPath) {
      refuseUnfitting(route);
      const key = `${route.method} ${template}`;
      if (entries.has(key)) throw new Error(`two routes for ${key}`);
      entries.set(key, { route, handle: handlerOf(route) });
    }
  }

  /** The most specific template wins: one without placeholders before one with. */
  function find(path: string) {
    const layers = router.match(path, 'GET').path;
    const layer = layers.toSorted((a, b) => a.paramNames.length - b.paramNames.length)[0];
    const template = layer?.name;
    if (!layer || !template) return null;
    const ofPath = byTemplate.get(template) ?? [];
    const methods = ofPath.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
    return {
      methods: [...methods, 'OPTIONS'],
      isCrossOrigin: ofPath.some((route) => route.isCrossOrigin),
      entry: (method: string) => entries.get(`${method} ${template}`) ?? null,
      params: (of: string) => layer.params(of, layer.captures(of)),
    };
  }
  return { find };
}

/** A handler reads its path parameters by their schema: each placeholder needs its entry there, and no more. */
function refuseUnfitting(route: AnyRoute): void {
  const placeholders = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  const properties = route.params && 'properties' in route.params ? route.params.properties : {};
  const declared = Object.keys(properties as object);
  if (placeholders.toSorted().join() === declared.toSorted().join()) return;
  throw new Error(
    `${route.method} ${route.path}: the path has {${placeholders}}, its params schema {${declared}}`,
  );
}
