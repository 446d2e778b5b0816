import { Agent, type Dispatcher, errors, request as sendRequest } from 'undici';
import { type Clock, systemClock } from '../time.ts';
import { createLookup, type ResolveHost, resolveAny, resolvePublic } from './guarded-lookup.ts';
import { requestHeaders, responseHeaders } from './http-headers.ts';
import { OutgoingError } from './outgoing-error.ts';
import { followRedirect, type Hop, type OutgoingMethod, redirectLocation } from './redirect.ts';
import { RequestDeadline } from './request-deadline.ts';
import { collectBody, limitedBody } from './response-body.ts';
import { isLiteral, readAllowedHosts, readTargetUrl, type TargetUrl } from './target-url.ts';

const MAX_REDIRECTS = 3;
const RESOLVE_DEADLINE_MS = 3_000;
const CONNECT_DEADLINE_MS = 10_000;
const MAX_RESPONSE_HEADER_BYTES = 32_768;

export interface OutgoingClientDeps {
  readonly resolve: ResolveHost;
  /** `host:port` of hosts that may be private, as the operator named them. */
  readonly allowHosts?: readonly string[];
  readonly clock?: Clock;
  /** How long an idle connection is kept for the next request, unless the server names a time; 4000 by default. */
  readonly keepAliveMs?: number;
}

export interface OutgoingRequest {
  readonly url: string;
  readonly method: OutgoingMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For `request`, until the whole body is there; for `stream`, until the headers are. Redirects included. */
  readonly deadlineMs: number;
  /** Bytes of body to take. `request` cuts there and says so; `stream` fails with `too_large`. */
  readonly maxBytes: number;
  /** At most this many are followed; 3 unless given. 0: a redirect is given back as it is. */
  readonly maxRedirects?: number;
  readonly signal?: AbortSignal;
}

export interface OutgoingStreamRequest extends OutgoingRequest {
  /** Longest silence between two pieces of the body before it fails with `timed_out`. */
  readonly idleMs: number;
}

export interface OutgoingResponse {
  readonly status: number;
  /** Lower-case names; values of repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly isTruncated: boolean;
}

export interface OutgoingStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** For one reader. Its end, an error and leaving the loop all free the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Gives the connection up; a reader gets `aborted`. Safe to call twice and after the end. */
  close(): void;
}

/**
 * The client for every URL that a user supplied. It reaches public addresses alone, connects to the addresses it
 * has checked, checks each redirect anew, and never reads past its bounds. Everything it throws is an
 * `OutgoingError`. Response bodies come as they were sent: no content coding is asked for or undone.
 */
export function createOutgoingClient(deps: OutgoingClientDeps) {
  const clock = deps.clock ?? systemClock;
  const allowedHosts = readAllowedHosts(deps.allowHosts ?? []);
  const keepAliveMs = deps.keepAliveMs ?? 4_000;
  const publicOnly = createAgent((hostname) => resolvePublic(deps.resolve, hostname), keepAliveMs);
  const opened = createAgent((hostname) => resolveAny(deps.resolve, hostname), keepAliveMs);
  const readUrl = (url: string): TargetUrl => readTargetUrl(url, allowedHosts);

  /** Checks a URL's syntax and known addresses without asking the resolver. Throws `OutgoingError`. */
  function checkUrlSyntax(url: string): void {
    readUrl(url);
  }

  /** As `checkUrlSyntax`, and its host must resolve to public addresses now. Throws `OutgoingError`. */
  async function checkUrl(url: string): Promise<void> {
    const target = readUrl(url);
    if (target.isOpened || isLiteral(target.url)) return;
    const deadline = new RequestDeadline(clock, RESOLVE_DEADLINE_MS, undefined);
    try {
      await deadline.race(resolvePublic(deps.resolve, target.url.hostname));
    } finally {
      deadline.settle();
    }
  }

  async function open(input: OutgoingRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    let hop: Hop = {
      target: readUrl(input.url),
      method: input.method,
      headers: requestHeaders(input.headers ?? {}),
      body: input.body ?? null,
    };
    const maxRedirects = input.maxRedirects ?? MAX_REDIRECTS;
    for (let followed = 0; ; followed++) {
      const response = await send(hop, signal);
      const location = redirectLocation(response);
      if (location === null || maxRedirects === 0) return response;
      response.body.on('error', () => {}).destroy();
      if (followed === maxRedirects) throw new OutgoingError('too_many_redirects');
      hop = followRedirect(hop, response.statusCode, location, readUrl);
    }
  }

  function send(hop: Hop, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    return sendRequest(hop.target.url, {
      dispatcher: hop.target.isOpened ? opened : publicOnly,
      method: hop.method,
      headers: { ...hop.headers, 'accept-encoding': 'identity' },
      body: hop.body,
      signal,
      // The deadline of the whole request and the reader's idle limit stand above these two.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Makes the request and reads at most `maxBytes` of its body. */
  async function request(input: OutgoingRequest): Promise<OutgoingResponse> {
    const deadline = new RequestDeadline(clock, input.deadlineMs, input.signal);
    try {
      const response = await deadline.race(open(input, deadline.signal));
      const { body, isTruncated } = await deadline.race(collectBody(response.body, input.maxBytes));
      return { status: response.statusCode, headers: responseHeaders(response.headers), body, isTruncated };
    } catch (error) {
      throw toOutgoingError(error);
    } finally {
      deadline.settle();
    }
  }

  /** Makes the request and hands over its body piece by piece, for replies that arrive over a long time. */
  async function stream(input: OutgoingStreamRequest): Promise<OutgoingStream> {
    const deadline = new RequestDeadline(clock, input.deadlineMs, input.signal);
    try {
      const response = await deadline.race(open(input, deadline.signal));
      deadline.meet();
      return {
        status: response.statusCode,
        headers: responseHeaders(response.headers),
        body: readBody(response, { ...input, clock }, deadline),
        close: () => {
          deadline.abort();
          response.body.on('error', () => {}).destroy();
        },
      };
    } catch (error) {
      deadline.settle();
      throw toOutgoingError(error);
    }
  }

  /** Cuts running requests and frees every connection. */
  async function close(): Promise<void> {
    await Promise.all([publicOnly.destroy(), opened.destroy()]);
  }

  return { request, stream, checkUrl, checkUrlSyntax, close };
}
export type OutgoingClient = ReturnType<typeof createOutgoingClient>;

function createAgent(
  resolveAddresses: (hostname: string) => Promise<readonly string[]>,
  keepAliveMs: number,
): Agent {
  return new Agent({
    keepAliveTimeout: keepAliveMs,
    connect: { lookup: createLookup(resolveAddresses), timeout: CONNECT_DEADLINE_MS },
    maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
  });
}

async function* readBody(
  response: Dispatcher.ResponseData,
  limits: { maxBytes: number; idleMs: number; clock: Clock },
  deadline: RequestDeadline,
): AsyncGenerator<Uint8Array> {
  try {
    yield* limitedBody(response.body, limits);
  } catch (error) {
    throw toOutgoingError(error);
  } finally {
    deadline.settle();
  }
}

function toOutgoingError(error: unknown): OutgoingError {
  if (error instanceof OutgoingError) return error;
  if (error instanceof errors.ConnectTimeoutError) return new OutgoingError('timed_out');
  if (error instanceof errors.InvalidArgumentError) return new OutgoingError('invalid_request');
  return new OutgoingError('connect_failed');
}
