/** What a request says before its body. Safe to keep. */
export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Values of `:name` parts of the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The socket's own remote address. Whoever trusts a proxy reads its header. */
  readonly clientIp: string;
  /** By lower-case name. Repeated headers are joined with a comma. */
  header(name: string): string | undefined;
}

export interface HttpRequest extends RequestHead {
  /** Aborts when the client is gone before the reply has ended. */
  readonly signal: AbortSignal;
  /**
   * The body's chunks, with back-pressure. Throws `Failure` `payload_too_large` past the route's `maxBodyBytes`.
   * Can be read once.
   */
  body(): AsyncIterable<Uint8Array>;
  /** The whole body, under the same limit. */
  readBody(): Promise<Uint8Array>;
}

export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * A stream is pulled as fast as the client reads; when the client goes, its iteration is ended. A stream that
   * throws after its first chunk cuts the connection, so that the client sees an incomplete reply.
   */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
}

export interface HttpRoute {
  readonly method: string;
  /** Literal segments and `:name`. A last segment `*` takes the rest. */
  readonly path: string;
  readonly maxBodyBytes: number;
  /** A `Failure` becomes its JSON reply, any other error a bare 500 and a log line. */
  handle(request: HttpRequest): Promise<HttpReply>;
}

/** What `send` did with the message. */
export type SendResult = 'sent' | 'queued' | 'dropped';

export interface ServerSocket {
  /** `queued`: the client reads slowly, stop until `onDrain`. `dropped`: the socket is closed or over its limit. */
  send(message: string | Uint8Array): SendResult;
  ping(): void;
  /** Starts the closing handshake; what was sent before still goes out. Safe to call twice. */
  close(code?: number, reason?: string): void;
  readonly bufferedBytes: number;
}

export interface SocketHandlers {
  onOpen?(socket: ServerSocket): void;
  /** `data` is the receiver's to keep. Text comes as its UTF-8 bytes with `isText`. */
  onMessage(socket: ServerSocket, data: Uint8Array, isText: boolean): void;
  /** All that was queued has gone out. */
  onDrain?(socket: ServerSocket): void;
  onPong?(socket: ServerSocket): void;
  /** Comes once, whoever closed. */
  onClose?(code: number, reason: string): void;
}

export interface SocketRoute {
  readonly path: string;
  /** A longer message closes the socket with 1009. */
  readonly maxMessageBytes: number;
  /** More waiting bytes than this and `send` drops. */
  readonly maxBufferedBytes: number;
  /** Nothing received for so long (pongs count) closes the socket. The server pings by itself before. */
  readonly idleTimeoutS: number;
  /**
   * Lets the client in by giving its handlers, or refuses with an HTTP reply. A `Failure` becomes its JSON reply.
   * `signal` aborts when the client goes before the answer.
   */
  accept(head: RequestHead, signal: AbortSignal): Promise<SocketHandlers | HttpReply>;
}

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface SocketServerSettings {
  /** `auto` takes uWebSockets.js where its binary loads, `node:http` with `ws` elsewhere. */
  readonly implementation: 'auto' | 'uws' | 'node';
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly tls: TlsFiles | null;
}

export interface SocketServerOptions {
  readonly settings: SocketServerSettings;
  readonly http: readonly HttpRoute[];
  readonly sockets: readonly SocketRoute[];
  /** Headers of every reply, refusals and 404s too. */
  readonly headersFor: (head: RequestHead) => Readonly<Record<string, string>>;
  /** Told of errors that are no `Failure`. */
  readonly report: (error: unknown) => void;
}

/** Port: HTTP and WebSockets on one TCP port. */
export interface SocketServer {
  readonly implementation: 'uws' | 'node';
  /** The port that was bound. */
  readonly port: number;
  /** Stops listening and cuts every connection. Safe to call twice. */
  close(): Promise<void>;
}

export class PortTaken extends Error {
  constructor(host: string, port: number) {
    super(`Port ${port} on ${host} is taken or can't be bound`);
    this.name = 'PortTaken';
  }
}

/** Requests with more header bytes are refused with 431. */
export const MAX_HEADER_BYTES = 16_384;
