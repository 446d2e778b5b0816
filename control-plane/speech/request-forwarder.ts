import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { newId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/log.ts';
import type { WorkerStatus } from '../coordination/coordination.ts';
import { endToEndHeaders, requestIdOf } from './forwarded-head.ts';

const CONNECT_DEADLINE_MS = 2_000;
/** An hour of audio may take a worker long to recognise, and it answers only then. */
const REPLY_DEADLINE_MS = 900_000;
/** Shorter than a worker keeps an idle connection, so that none is used that it is just closing. */
const IDLE_CONNECTION_MS = 4_000;
const RETRY_AFTER_S = 1;

/** Hands one request on and its reply back, each as it comes, at the pace of the slower side. */
export class RequestForwarder {
  readonly #log: Logger;
  readonly #http = new HttpAgent({ keepAlive: true, maxFreeSockets: 64, timeout: IDLE_CONNECTION_MS });
  readonly #https = new HttpsAgent({ keepAlive: true, maxFreeSockets: 64, timeout: IDLE_CONNECTION_MS });

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Tries `workers` in their order; the next one only when nothing of the request has gone out. */
  forward(req: IncomingMessage, res: ServerResponse, workers: readonly WorkerStatus[]): void {
    const requestId = requestIdOf(req, newId);
    const [worker, ...others] = workers;
    if (!worker) return refuse(res, requestId);
    const upstream = this.#open(worker, req, requestId);
    let isSent = false;
    const leave = () => upstream.destroy();
    res.once('close', leave);
    upstream.on('error', (error) => {
      res.off('close', leave);
      // A reply that has begun sees its own end.
      if (res.destroyed || res.headersSent) return;
      this.#log.warn({ err: error, workerId: worker.workerId, isSent }, 'speech request not forwarded');
      if (!isSent) this.forward(req, res, others);
      else refuse(res, requestId);
    });
    upstream.on('timeout', () => upstream.destroy(new Error('the worker did not answer in time')));
    whenConnected(upstream, () => {
      isSent = true;
      upstream.setTimeout(REPLY_DEADLINE_MS);
      req.pipe(upstream);
    });
    upstream.on('response', (reply) => {
      upstream.setTimeout(0);
      passBack(reply, res, requestId);
    });
  }

  stop(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #open(worker: WorkerStatus, req: IncomingMessage, requestId: string): ClientRequest {
    const url = new URL(worker.publicUrl);
    const own = new Set(['host', 'x-request-id', 'x-forwarded-for']);
    const headers = endToEndHeaders(req).filter(([name]) => !own.has(name.toLowerCase()));
    const client = [req.headers['x-forwarded-for'], req.socket.remoteAddress]
      .flat()
      .filter(Boolean)
      .join(', ');
    const options = {
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      method: req.method,
      path: req.url,
      headers: [
        ...headers,
        ['Host', url.host],
        ['X-Request-Id', requestId],
        ['X-Forwarded-For', client],
      ].flat(),
      timeout: CONNECT_DEADLINE_MS,
    };
    return url.protocol === 'https:'
      ? httpsRequest({ ...options, agent: this.#https })
      : httpRequest({ ...options, agent: this.#http });
  }
}

function whenConnected(upstream: ClientRequest, go: () => void): void {
  upstream.once('socket', (socket: Socket) => {
    socket.setNoDelay(true);
    if (!socket.connecting) return go();
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', go);
  });
}

function passBack(reply: IncomingMessage, res: ServerResponse, requestId: string): void {
  const headers = endToEndHeaders(reply);
  if (!headers.some(([name]) => name.toLowerCase() === 'x-request-id'))
    headers.push(['X-Request-Id', requestId]);
  res.writeHead(reply.statusCode ?? 502, reply.statusMessage, headers.flat());
  res.flushHeaders();
  // A reply that is cut short must look cut short to the client, too.
  pipeline(reply, res, (error) => {
    if (error) res.destroy();
  });
}

function refuse(res: ServerResponse, requestId: string): void {
  const body = JSON.stringify({ status: 503, message: 'Service temporarily unavailable', reason: null });
  res.writeHead(503, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Retry-After': String(RETRY_AFTER_S),
    'X-Request-Id': requestId,
    Connection: 'close',
  });
  res.end(body);
}
