import { Failure } from '../../shared/errors.ts';
import { RequestBody } from './request-body.ts';
import { findRoute, headersTooLarge, isStream, replyHeaders, runRoute } from './serve-request.ts';
import {
  type HttpReply,
  MAX_HEADER_BYTES,
  type RequestHead,
  type SocketServerOptions,
} from './socket-server.ts';
import type { HttpRequest, HttpResponse } from './uws-addon.ts';

const text = new TextDecoder();

/** Copies what the addon's request says; the object itself dies with the handler. */
export function readHead(
  res: HttpResponse,
  req: HttpRequest,
): { head: Omit<RequestHead, 'params'>; isTooLarge: boolean } {
  const headers = new Map<string, string>();
  // Undefined where the target has no question mark, whatever the typings say.
  const query: string | undefined = req.getQuery();
  let bytes = req.getUrl().length + (query?.length ?? 0);
  req.forEach((name, value) => {
    bytes += name.length + value.length + 4;
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  });
  const head = {
    method: req.getCaseSensitiveMethod().toUpperCase(),
    path: req.getUrl(),
    query: new URLSearchParams(query ?? ''),
    clientIp: plainAddress(text.decode(res.getRemoteAddressAsText())),
    header: (name: string) => headers.get(name),
  };
  return { head, isTooLarge: bytes > MAX_HEADER_BYTES };
}

/** One plain HTTP request from head to the end of its reply. Never touches the response after it was aborted. */
export function serveUwsHttp(options: SocketServerOptions, res: HttpResponse, req: HttpRequest): void {
  const gone = new AbortController();
  // First of all: the addon ends the process when a handler returns without this.
  res.onAborted(() => gone.abort());
  const { head: bareHead, isTooLarge } = readHead(res, req);
  const found = isTooLarge ? headersTooLarge() : findRoute(options, bareHead.method, bareHead.path);
  if ('status' in found) {
    void sendUwsReply(options, res, { ...bareHead, params: {} }, found, gone.signal);
    return;
  }
  const { route, params } = found;
  const body = new RequestBody(route.maxBodyBytes, (paused) => {
    if (gone.signal.aborted) return;
    if (paused) res.pause();
    else res.resume();
  });
  gone.signal.addEventListener('abort', () =>
    body.fail(new Failure('bad_request', 'The request was cut off')),
  );
  res.onData((chunk, isLast) => {
    // The chunk's memory is the addon's and is gone after this call.
    if (chunk.byteLength > 0) body.push(new Uint8Array(chunk.slice(0)));
    if (isLast) body.complete();
  });
  const request = {
    ...bareHead,
    params,
    signal: gone.signal,
    body: () => body,
    readBody: () => body.readAll(),
  };
  void runRoute(route, request, options.report).then((reply) =>
    sendUwsReply(options, res, request, reply, gone.signal),
  );
}

/** Writes a reply unless the client is gone. */
export async function sendUwsReply(
  options: SocketServerOptions,
  res: HttpResponse,
  head: RequestHead,
  reply: HttpReply,
  gone: AbortSignal,
): Promise<void> {
  if (gone.aborted) return;
  const { body } = reply;
  const writeHead = () => {
    res.writeStatus(String(reply.status));
    for (const [name, value] of Object.entries(replyHeaders(options, head, reply)))
      res.writeHeader(name, value);
  };
  // What is left of an oversized request would be read for nothing.
  const mustClose = reply.status === 413 || reply.status === 431;
  if (!isStream(body)) {
    res.cork(() => {
      writeHead();
      if (head.method === 'HEAD' || reply.status === 204) res.endWithoutBody(undefined, mustClose);
      else res.end(body ?? '', mustClose);
    });
    return;
  }
  res.cork(writeHead);
  await pump(res, body, gone, options.report);
}

async function pump(
  res: HttpResponse,
  body: AsyncIterable<Uint8Array>,
  gone: AbortSignal,
  report: (error: unknown) => void,
): Promise<void> {
  let wake: () => void = () => {};
  gone.addEventListener('abort', () => wake(), { once: true });
  res.onWritable(() => {
    wake();
    return true;
  });
  try {
    for await (const chunk of body) {
      if (gone.aborted) return;
      let hasRoom = true;
      res.cork(() => {
        hasRoom = res.write(chunk);
      });
      if (!hasRoom) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (gone.aborted) resolve();
        });
      }
    }
    if (!gone.aborted) res.cork(() => res.end());
  } catch (error) {
    report(error);
    if (!gone.aborted) res.close();
  }
}

/** IPv4 addresses come mapped into IPv6 where the server listens on both. */
function plainAddress(address: string): string {
  const mapped = /^(?:0{4}:){5}ffff:([0-9a-f]{4}):([0-9a-f]{4})$/i.exec(address);
  if (!mapped?.[1] || !mapped[2]) return address;
  const bytes = Buffer.from(mapped[1] + mapped[2], 'hex');
  return bytes.join('.');
}
