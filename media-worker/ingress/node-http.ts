import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure } from '../../shared/errors.ts';
import { RequestBody } from './request-body.ts';
import { findRoute, isStream, replyHeaders, runRoute } from './serve-request.ts';
import type { HttpReply, RequestHead, SocketServerOptions } from './socket-server.ts';

export function readNodeHead(req: IncomingMessage): Omit<RequestHead, 'params'> {
  const target = req.url ?? '/';
  const split = target.indexOf('?');
  return {
    method: (req.method ?? 'GET').toUpperCase(),
    path: split < 0 ? target : target.slice(0, split),
    query: new URLSearchParams(split < 0 ? '' : target.slice(split + 1)),
    clientIp: (req.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, ''),
    header: (name) => {
      const value = req.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
  };
}

/** One plain HTTP request from head to the end of its reply. */
export function serveNodeHttp(options: SocketServerOptions, req: IncomingMessage, res: ServerResponse): void {
  const bareHead = readNodeHead(req);
  const gone = new AbortController();
  res.on('close', () => {
    if (!res.writableFinished) gone.abort();
  });
  // A connection that breaks is told through `close`.
  res.on('error', () => {});
  const found = findRoute(options, bareHead.method, bareHead.path);
  if ('status' in found) {
    req.resume();
    void sendNodeReply(options, res, { ...bareHead, params: {} }, found, gone.signal);
    return;
  }
  const { route, params } = found;
  const body = readInto(req, route.maxBodyBytes, gone.signal);
  const request = {
    ...bareHead,
    params,
    signal: gone.signal,
    body: () => body,
    readBody: () => body.readAll(),
  };
  void runRoute(route, request, options.report).then((reply) =>
    sendNodeReply(options, res, request, reply, gone.signal),
  );
}

function readInto(req: IncomingMessage, maxBytes: number, gone: AbortSignal): RequestBody {
  const body = new RequestBody(maxBytes, (paused) => {
    if (paused) req.pause();
    else req.resume();
  });
  const cutOff = () => body.fail(new Failure('bad_request', 'The request was cut off'));
  gone.addEventListener('abort', cutOff);
  req.on('data', (chunk: Buffer) => body.push(chunk));
  req.on('end', () => body.complete());
  req.on('error', cutOff);
  return body;
}

async function sendNodeReply(
  options: SocketServerOptions,
  res: ServerResponse,
  head: RequestHead,
  reply: HttpReply,
  gone: AbortSignal,
): Promise<void> {
  if (gone.aborted) return;
  const { body } = reply;
  const headers = replyHeaders(options, head, reply);
  // What is left of an oversized request would be read for nothing.
  if (reply.status === 413) headers['connection'] = 'close';
  res.writeHead(reply.status, headers);
  if (!isStream(body)) {
    res.end(body ?? '');
    return;
  }
  try {
    for await (const chunk of body) {
      if (gone.aborted) return;
      if (!res.write(chunk)) await drained(res);
    }
    res.end();
  } catch (error) {
    options.report(error);
    res.destroy();
  }
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done);
      res.off('close', done);
      resolve();
    };
    res.on('drain', done);
    res.on('close', done);
  });
}
