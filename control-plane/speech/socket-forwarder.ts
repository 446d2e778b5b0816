import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { newId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/log.ts';
import type { WorkerStatus } from '../coordination/coordination.ts';
import { pairs, requestIdOf } from './forwarded-head.ts';

const CONNECT_DEADLINE_MS = 2_000;

/** Joins a client's upgraded connection with one to a worker; from then on bytes pass as they are. */
export class SocketForwarder {
  readonly #log: Logger;
  readonly #open = new Set<Duplex>();

  constructor(log: Logger) {
    this.#log = log;
  }

  forward(req: IncomingMessage, client: Duplex, firstBytes: Buffer, workers: readonly WorkerStatus[]): void {
    const requestId = requestIdOf(req, newId);
    const [worker, ...others] = workers;
    // Until it is piped nobody else listens, and an unheard error would end the process.
    const ignore = () => {};
    client.on('error', ignore);
    if (!worker) return refuse(client, requestId);
    const upstream = dial(worker.publicUrl);
    const giveUp = () => upstream.destroy();
    client.once('close', giveUp);
    const onFailure = (error: Error) => {
      client.off('close', giveUp);
      upstream.destroy();
      this.#log.warn({ err: error, workerId: worker.workerId }, 'speech socket not forwarded');
      if (!client.destroyed) this.forward(req, client, firstBytes, others);
    };
    upstream.once('error', onFailure);
    upstream.setTimeout(CONNECT_DEADLINE_MS, () => onFailure(new Error('the worker did not answer in time')));
    upstream.once(upstream.connectEvent, () => {
      upstream.off('error', onFailure);
      upstream.setTimeout(0);
      upstream.write(headOf(req, requestId));
      upstream.write(firstBytes);
      this.#join(client, upstream);
    });
  }

  /** Cuts every socket that is open. */
  stop(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #join(client: Duplex, upstream: Socket): void {
    if ('setNoDelay' in client && typeof client.setNoDelay === 'function') client.setNoDelay(true);
    if ('setTimeout' in client && typeof client.setTimeout === 'function') client.setTimeout(0);
    this.#open.add(client);
    const end = () => {
      this.#open.delete(client);
      client.destroy();
      upstream.destroy();
    };
    client.pipe(upstream).pipe(client);
    for (const side of [client, upstream]) side.once('error', end).once('close', end);
  }
}

type Dialled = Socket & { connectEvent: 'connect' | 'secureConnect' };

function dial(publicUrl: string): Dialled {
  const url = new URL(publicUrl);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isTls = url.protocol === 'https:';
  const port = Number(url.port) || (isTls ? 443 : 80);
  const socket: Socket = isTls ? connectTls({ host, port, servername: host }) : connect({ host, port });
  socket.setNoDelay(true);
  return Object.assign(socket, { connectEvent: isTls ? ('secureConnect' as const) : ('connect' as const) });
}

/** The request's head as it came, with the id that the log lines carry. */
function headOf(req: IncomingMessage, requestId: string): string {
  const headers = pairs(req).filter(([name]) => name.toLowerCase() !== 'x-request-id');
  const lines = [...headers, ['X-Request-Id', requestId]].map(([name, value]) => `${name}: ${value}\r\n`);
  return `${req.method} ${req.url} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function refuse(client: Duplex, requestId: string): void {
  const body = JSON.stringify({ status: 503, message: 'Service temporarily unavailable', reason: null });
  client.end(
    `HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Retry-After: 1\r\nX-Request-Id: ${requestId}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
