import type { ValidateFunction } from 'ajv';
import type { Context } from 'koa';
import { Failure, type FieldIssue } from '../../shared/errors.ts';
import { fieldIssues, type Source } from '../../shared/field-issues.ts';
import type { Logger } from '../../shared/log.ts';
import { type Clock, withDeadline } from '../../shared/time.ts';
import { type Authenticate, CredentialsMissing, identify } from './authentication.ts';
import { clientAddress } from './client-address.ts';
import { readMultipart } from './multipart-body.ts';
import { parseJson } from './parse-json.ts';
import { ClientGone, readBody } from './read-body.ts';
import { readQuery } from './read-query.ts';
import { createShaper, type Shaper } from './reply-shape.ts';
import type { AnyRoute } from './route.ts';
import { createCompile } from './validators.ts';

/** Nothing may keep a caller waiting longer, unless its route says so; the handler itself is told by its signal. */
const HANDLER_DEADLINE_MS = 30_000;
const MULTIPART = /^multipart\/form-data\s*(;|$)/i;

export interface RouteHandlerDeps {
  readonly authenticate: Authenticate;
  readonly clock: Clock;
  readonly log: Logger;
  readonly maxBodyBytes: number;
  /** Reverse proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxyHops: number;
  /** `refuse` turns a reply that breaks its schema into a 500 (tests, development); `report` only logs it. */
  readonly replyCheck: 'refuse' | 'report';
}

/** What was learnt about the request before its route is entered. */
export interface RequestFacts {
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly traceparent: string;
}

interface ReplyChecks {
  readonly reply: ValidateFunction | undefined;
  readonly shape: Shaper | undefined;
}

/** Makes the function that takes a matched request through its ladder: 401, 415, 413, 400, 422, handler, reply. */
export function createRouteHandler(deps: RouteHandlerDeps) {
  const compile = createCompile({ fillDefaults: false });
  const compileFilling = createCompile({ fillDefaults: true });

  return function handlerOf(route: AnyRoute) {
    const checks = {
      body: route.body && compile(route.body),
      query: route.query && compileFilling(route.query),
      path: route.params && compile(route.params),
      reply: route.reply.schema && compile(route.reply.schema),
      shape: route.reply.schema && createShaper(route.reply.schema, compile),
    };

    return async function handle(ctx: Context, facts: RequestFacts): Promise<void> {
      const client = {
        authorization: ctx.req.headers.authorization,
        origin: ctx.req.headers.origin ?? null,
        clientIp: clientAddress(ctx.req, deps.trustedProxyHops),
      };
      const caller = await identify(route.access, client, deps.authenticate);
      const { body, issues: bodyIssues } = await takeBody(ctx, route, deps.maxBodyBytes);
      const { values: query, issues } = readQuery(ctx.querystring, route.query ?? {});
      refuseInvalid([
        ...check(checks.path, facts.params, 'path'),
        ...issues,
        ...check(checks.query, query, 'query'),
        ...bodyIssues,
        ...check(checks.body, body, 'body'),
      ]);
      const gone = new AbortController();
      ctx.res.once('close', () => {
        // Making an error for every request that ends well would be a good part of its cost.
        if (!ctx.res.writableFinished) gone.abort();
      });
      const work = route.handle({
        // The validators have just proven what the handler's types say.
        body: body as never,
        query: query as never,
        params: facts.params as never,
        caller,
        requestId: facts.requestId,
        traceparent: facts.traceparent,
        header: (name) => ctx.req.headers[name]?.toString() ?? null,
        signal: gone.signal,
      });
      const reply = await withDeadline(
        deps.clock,
        `${route.method} ${route.path}`,
        route.deadlineMs ?? HANDLER_DEADLINE_MS,
        work,
      );
      writeReply(ctx, route, reply, checks);
    };
  };

  function writeReply(ctx: Context, route: AnyRoute, reply: unknown, checks: ReplyChecks): void {
    const { status } = route.reply;
    const { reply: validate, shape } = checks;
    if (!shape || status === 204) {
      ctx.body = null;
      ctx.status = status;
      return;
    }
    const shaped = shape(reply);
    if (validate && !validate(shaped)) {
      const broken = (validate.errors ?? []).map((e) => `${e.instancePath} ${e.keyword}`);
      const fields = { route: `${route.method} ${route.path}`, broken };
      if (deps.replyCheck === 'refuse') throw new Error(`reply breaks its schema: ${JSON.stringify(fields)}`);
      deps.log.error(fields, 'a reply breaks its schema and was sent all the same');
    }
    ctx.status = status;
    ctx.body = shaped;
  }
}

/** A missing body or one of another content type than the route takes; answered with a bare 415. */
export class WrongBodyType extends Error {
  constructor() {
    super('body is missing or of another type');
    this.name = 'WrongBodyType';
  }
}

interface TakenBody {
  readonly body: unknown;
  readonly issues: readonly FieldIssue[];
}

async function takeBody(ctx: Context, route: AnyRoute, limitBytes: number): Promise<TakenBody> {
  if (!route.body) return { body: undefined, issues: [] };
  if (!route.multipart) return { body: await takeJson(ctx, route, limitBytes), issues: [] };
  if (!hasBody(ctx) || !MULTIPART.test(ctx.req.headers['content-type'] ?? '')) throw new WrongBodyType();
  try {
    const { values, issues } = await readMultipart(ctx.req, route.body, route.multipart);
    return { body: values, issues };
  } catch (error) {
    if (!ctx.req.complete) ctx.set('Connection', 'close');
    throw error;
  }
}

function hasBody(ctx: Context): boolean {
  const { headers } = ctx.req;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

async function takeJson(ctx: Context, route: AnyRoute, limitBytes: number): Promise<unknown> {
  const { headers } = ctx.req;
  if (!hasBody(ctx) && route.isBodyOptional) return {};
  if (!hasBody(ctx)) throw new WrongBodyType();
  const isReadable =
    isJson(headers['content-type']) && (headers['content-encoding'] ?? 'identity') === 'identity';
  // An optional body may turn out to be an empty chunked one, which needs no content type.
  if (!isReadable && !(route.isBodyOptional && headers['content-type'] === undefined))
    throw new WrongBodyType();
  const bytes = await readBody(ctx.req, limitBytes);
  if (bytes === null) {
    if (!ctx.req.complete) ctx.set('Connection', 'close');
    throw new Failure('payload_too_large', 'Payload too large');
  }
  if (bytes.length === 0 && route.isBodyOptional) return {};
  if (bytes.length === 0 || !isReadable) throw new WrongBodyType();
  return parseJson(bytes);
}

function isJson(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((p) => p.trim()).find((p) => p.startsWith('charset='));
  const isUtf8 = charset === undefined || charset.slice(8).replaceAll('"', '') === 'utf-8';
  return type.trim() === 'application/json' && isUtf8;
}

function check(validate: ValidateFunction | undefined, value: unknown, source: Source): FieldIssue[] {
  if (!validate || validate(value)) return [];
  return fieldIssues(validate.errors ?? [], source);
}

function refuseInvalid(issues: readonly FieldIssue[]): void {
  if (issues.length > 0) throw new Failure('unprocessable', 'Validation failed', { issues });
}

/** The two refusals without a body, and nothing at all for a client that has gone. True when it was one of them. */
export function answerBare(ctx: Context, error: unknown): boolean {
  if (error instanceof CredentialsMissing) {
    ctx.set('WWW-Authenticate', 'Bearer');
    ctx.body = null;
    ctx.status = 401;
    return true;
  }
  if (error instanceof WrongBodyType) {
    ctx.body = null;
    ctx.status = 415;
    return true;
  }
  if (error instanceof ClientGone) {
    ctx.respond = false;
    return true;
  }
  return false;
}
