import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { failureReply } from './failure-reply.ts';
import { guardHandlers } from './guard-handlers.ts';
import { readNodeHead } from './node-http.ts';
import { matchSocketRoute } from './route-table.ts';
import { findRoute, isStream, replyHeaders } from './serve-request.ts';
import type {
  HttpReply,
  RequestHead,
  SendResult,
  ServerSocket,
  SocketHandlers,
  SocketRoute,
  SocketServerOptions,
} from './socket-server.ts';

/** Handles upgrades to WebSockets; refusals are written by hand, since there is no response object yet. */
export function createNodeUpgrade(options: SocketServerOptions): {
  handle(req: IncomingMessage, socket: Duplex, firstBytes: Buffer): void;
  terminateAll(): void;
} {
  const servers = new Map<SocketRoute, WebSocketServer>();
  for (const route of options.sockets) {
    servers.set(
      route,
      new WebSocketServer({ noServer: true, maxPayload: route.maxMessageBytes, perMessageDeflate: false }),
    );
  }
  const pending = new Set<Duplex>();

  async function upgrade(req: IncomingMessage, socket: Duplex, firstBytes: Buffer): Promise<void> {
    const bareHead = readNodeHead(req);
    const found = matchSocketRoute(options.sockets, bareHead.path);
    const head: RequestHead = { ...bareHead, params: found?.params ?? {} };
    const gone = new AbortController();
    const cutOff = () => {
      gone.abort();
      socket.destroy();
    };
    socket.on('error', cutOff);
    socket.on('close', cutOff);
    socket.on('end', cutOff);
    // Nobody reads the socket yet, and an unread one doesn't notice that the client is gone.
    socket.resume();
    const answer = found
      ? await decide(found.route, head, gone.signal, options)
      : refusalOf(findRoute(options, bareHead.method, bareHead.path));
    if (gone.signal.aborted) return;
    const server = found && servers.get(found.route);
    if ('status' in answer || !found || !server) {
      if ('status' in answer) writeRefusal(socket, answer, replyHeaders(options, head, answer));
      return;
    }
    for (const event of ['error', 'close', 'end']) socket.off(event, cutOff);
    server.handleUpgrade(req, socket, firstBytes, (ws) =>
      attach(ws, found.route, guardHandlers(answer, options.report)),
    );
  }

  return {
    handle: (req, socket, firstBytes) => {
      pending.add(socket);
      void upgrade(req, socket, firstBytes)
        .catch((error) => {
          options.report(error);
          socket.destroy();
        })
        .finally(() => pending.delete(socket));
    },
    terminateAll: () => {
      for (const socket of pending) socket.destroy();
      for (const server of servers.values()) {
        for (const ws of server.clients) ws.terminate();
      }
    },
  };
}

/** A path that serves plain requests only answers an upgrade with 426 (RFC 9110 15.5.22). */
function refusalOf(found: ReturnType<typeof findRoute>): HttpReply {
  return 'status' in found ? found : { status: 426 };
}

async function decide(
  route: SocketRoute,
  head: RequestHead,
  signal: AbortSignal,
  options: SocketServerOptions,
): Promise<SocketHandlers | HttpReply> {
  try {
    return await route.accept(head, signal);
  } catch (error) {
    return failureReply(error, options.report);
  }
}

function writeRefusal(socket: Duplex, reply: HttpReply, headers: Record<string, string>): void {
  const body = isStream(reply.body) ? '' : (reply.body ?? '');
  const all = { ...headers, connection: 'close', 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}\r\n${lines.join('')}\r\n`);
  socket.end(body);
}

function attach(ws: WebSocket, route: SocketRoute, handlers: Required<SocketHandlers>): void {
  const socket = new NodeServerSocket(ws, route.maxBufferedBytes, () => handlers.onDrain(socket));
  const idle = watchIdle(ws, route.idleTimeoutS);
  ws.on('message', (data: Buffer, isBinary) => {
    idle.heard();
    handlers.onMessage(socket, new Uint8Array(data), !isBinary);
  });
  ws.on('ping', idle.heard);
  ws.on('pong', () => {
    idle.heard();
    handlers.onPong(socket);
  });
  // `ws` closes the socket itself after an error; the close event tells the handlers.
  ws.on('error', () => {});
  ws.on('close', (code, reason) => {
    idle.stop();
    handlers.onClose(code, reason.toString());
  });
  handlers.onOpen(socket);
}

/** Pings at half the idle time and cuts a socket that stayed silent for all of it. */
function watchIdle(ws: WebSocket, idleTimeoutS: number): { heard(): void; stop(): void } {
  let silentTicks = 0;
  const timer = setInterval(
    () => {
      silentTicks += 1;
      if (silentTicks > 2) ws.terminate();
      else ws.ping();
    },
    (idleTimeoutS * 1000) / 2,
  );
  return {
    heard: () => {
      silentTicks = 0;
    },
    stop: () => clearInterval(timer),
  };
}

/** `ws` counts every message as waiting until the next tick; a kernel buffer's worth is no back-pressure yet. */
const QUEUED_PAST_BYTES = 16_384;

class NodeServerSocket implements ServerSocket {
  readonly #ws: WebSocket;
  readonly #maxBufferedBytes: number;
  readonly #onDrained: () => void;
  #isWaiting = false;

  constructor(ws: WebSocket, maxBufferedBytes: number, onDrained: () => void) {
    this.#ws = ws;
    this.#maxBufferedBytes = maxBufferedBytes;
    this.#onDrained = onDrained;
  }

  get bufferedBytes(): number {
    return this.#ws.readyState === this.#ws.OPEN ? this.#ws.bufferedAmount : 0;
  }

  send(message: string | Uint8Array): SendResult {
    if (this.#ws.readyState !== this.#ws.OPEN) return 'dropped';
    const size = typeof message === 'string' ? Buffer.byteLength(message) : message.byteLength;
    if (this.#ws.bufferedAmount + size > this.#maxBufferedBytes) return 'dropped';
    this.#ws.send(message, () => {
      if (!this.#isWaiting || this.#ws.bufferedAmount > 0) return;
      this.#isWaiting = false;
      this.#onDrained();
    });
    if (this.#ws.bufferedAmount <= QUEUED_PAST_BYTES) return 'sent';
    this.#isWaiting = true;
    return 'queued';
  }

  ping(): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
  }

  close(code = 1000, reason = ''): void {
    this.#ws.close(code, reason);
  }
}
