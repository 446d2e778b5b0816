import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../shared/time.ts';

/** A caller has this long for its headers, and this long for the whole request, uploads included. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** Longer than the idle time of common load balancers, so that they close first. */
const KEEP_ALIVE_MS = 75_000;
/** Requests still running after this are cut when the process stops. */
const CLOSE_GRACE_MS = 5_000;

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Name of the setting that chose the address, for the error when it is taken. */
  readonly setting: string;
  readonly tls?: { readonly cert: string; readonly key: string } | null;
  readonly clock: Clock;
}

/** The address can't be listened on; the message is for the operator. */
export class AddressUnavailable extends Error {
  constructor(options: { host: string; port: number; setting: string }, cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    const why = code === 'EADDRINUSE' ? 'is already in use' : `can't be listened on (${code})`;
    super(`${options.host}:${options.port} ${why}; choose another with ${options.setting}`, { cause });
    this.name = 'AddressUnavailable';
  }
}

/** An HTTP or HTTPS server that starts and stops cleanly. */
export function createHttpServer(listener: RequestListener, options: HttpServerOptions) {
  const timeouts = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server: Server = options.tls
    ? createTlsServer({ ...timeouts, cert: options.tls.cert, key: options.tls.key }, listener)
    : createServer(timeouts, listener);
  server.on('clientError', answerUnreadable);
  let isListening = false;

  /** Resolves with the port; rejects with `AddressUnavailable`. */
  function start(): Promise<number> {
    return new Promise((resolve, reject) => {
      const onError = (cause: Error) => reject(new AddressUnavailable(options, cause));
      server.once('error', onError);
      server.listen({ host: options.host, port: options.port, exclusive: true }, () => {
        server.off('error', onError);
        isListening = true;
        const address = server.address();
        resolve(typeof address === 'object' && address ? address.port : options.port);
      });
    });
  }

  /** Refuses new connections, lets running requests end for 5 s, then closes what is left. */
  async function stop(): Promise<void> {
    if (!isListening) return;
    isListening = false;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const isClosed = new AbortController();
    const grace = options.clock
      .sleep(CLOSE_GRACE_MS, isClosed.signal)
      .then(() => server.closeAllConnections());
    await closed;
    isClosed.abort();
    await grace;
  }

  return { start, stop, server };
}

/** What isn't HTTP, or comes too slowly, gets an answer of the usual shape as long as the socket takes one. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout']
        : [400, 'Bad Request'];
  const body = JSON.stringify({ status, message, reason: null });
  socket.end(
    `HTTP/1.1 ${status} ${message}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `X-Request-Id: ${randomUUID()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
