import { failureReply } from './failure-reply.ts';
import { guardHandlers } from './guard-handlers.ts';
import { matchPath } from './route-table.ts';
import { headersTooLarge } from './serve-request.ts';
import type {
  HttpReply,
  RequestHead,
  SendResult,
  ServerSocket,
  SocketHandlers,
  SocketRoute,
  SocketServerOptions,
} from './socket-server.ts';
import type { TemplatedApp, WebSocket } from './uws-addon.ts';
import { readHead, sendUwsReply } from './uws-http.ts';

interface Attached {
  readonly handlers: Required<SocketHandlers>;
  socket: UwsServerSocket | null;
}

/** Registers one WebSocket path. The addon takes limits per path, not per socket. */
export function addUwsSocketRoute(app: TemplatedApp, options: SocketServerOptions, route: SocketRoute): void {
  app.ws<Attached>(route.path, {
    maxPayloadLength: route.maxMessageBytes,
    maxBackpressure: route.maxBufferedBytes,
    // The addon takes 0 or 8 to 960 seconds.
    idleTimeout: Math.min(960, Math.max(8, route.idleTimeoutS)),
    sendPingsAutomatically: true,
    upgrade: (res, req, context) => {
      const key = req.getHeader('sec-websocket-key');
      const protocol = req.getHeader('sec-websocket-protocol');
      const extensions = req.getHeader('sec-websocket-extensions');
      const gone = new AbortController();
      res.onAborted(() => gone.abort());
      const { head: bareHead, isTooLarge } = readHead(res, req);
      const head: RequestHead = { ...bareHead, params: matchPath(route.path, bareHead.path) ?? {} };
      void decide(route, head, isTooLarge, gone.signal, options).then((answer) => {
        if (gone.signal.aborted) return;
        if ('status' in answer) return sendUwsReply(options, res, head, answer, gone.signal);
        const attached: Attached = { handlers: guardHandlers(answer, options.report), socket: null };
        res.cork(() => res.upgrade(attached, key, protocol, extensions, context));
      });
    },
    open: (ws) => {
      const attached = ws.getUserData();
      attached.socket = new UwsServerSocket(ws, route.maxBufferedBytes);
      attached.handlers.onOpen(attached.socket);
    },
    message: (ws, message, isBinary) => {
      const { handlers, socket } = ws.getUserData();
      // The message's memory is the addon's and is gone after this call.
      if (socket) handlers.onMessage(socket, new Uint8Array(message.slice(0)), !isBinary);
    },
    drain: (ws) => {
      const { handlers, socket } = ws.getUserData();
      if (socket && ws.getBufferedAmount() === 0) handlers.onDrain(socket);
    },
    pong: (ws) => {
      const { handlers, socket } = ws.getUserData();
      if (socket) handlers.onPong(socket);
    },
    close: (ws, code, message) => {
      const { handlers, socket } = ws.getUserData();
      socket?.markClosed();
      handlers.onClose(code, new TextDecoder().decode(message));
    },
  });
}

async function decide(
  route: SocketRoute,
  head: RequestHead,
  isTooLarge: boolean,
  signal: AbortSignal,
  options: SocketServerOptions,
): Promise<SocketHandlers | HttpReply> {
  if (isTooLarge) return headersTooLarge();
  try {
    return await route.accept(head, signal);
  } catch (error) {
    return failureReply(error, options.report);
  }
}

/** The addon's socket, which must never be touched after its close event. */
class UwsServerSocket implements ServerSocket {
  readonly #ws: WebSocket<Attached>;
  readonly #maxBufferedBytes: number;
  #isOpen = true;
  #isClosing = false;

  constructor(ws: WebSocket<Attached>, maxBufferedBytes: number) {
    this.#ws = ws;
    this.#maxBufferedBytes = maxBufferedBytes;
  }

  get bufferedBytes(): number {
    return this.#isOpen ? this.#ws.getBufferedAmount() : 0;
  }

  send(message: string | Uint8Array): SendResult {
    if (!this.#isOpen || this.#isClosing) return 'dropped';
    if (this.#ws.getBufferedAmount() > this.#maxBufferedBytes) return 'dropped';
    const outcome = this.#ws.send(message, typeof message !== 'string');
    if (outcome === 1) return 'sent';
    return outcome === 0 ? 'queued' : 'dropped';
  }

  ping(): void {
    if (this.#isOpen) this.#ws.ping();
  }

  close(code = 1000, reason = ''): void {
    if (!this.#isOpen || this.#isClosing) return;
    this.#isClosing = true;
    this.#ws.end(code, reason);
  }

  markClosed(): void {
    this.#isOpen = false;
  }
}
