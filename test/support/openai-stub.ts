import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A step of an answer: bytes, a wait, or the connection cut. */
export type StubStep = string | Uint8Array | { readonly waitMs: number } | 'cut';

export interface StubAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** `'never'`: the request is taken and nothing is answered, not even headers. */
  readonly steps: readonly StubStep[] | 'never';
}

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** A model service on loopback that answers by a script: the OpenAI API's paths, slow, cut and malformed on demand. */
export class OpenAiStub {
  readonly requests: StubRequest[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #answers: (StubAnswer | ((request: StubRequest) => StubAnswer))[] = [];
  #waiting = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** Answers of the next requests, in order; the last one stays. GET requests are no part of it. */
  willAnswer(...answers: (StubAnswer | ((request: StubRequest) => StubAnswer))[]): void {
    this.#answers = answers;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** `host:port`, as the list of allowed hosts wants it. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections open now. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Requests that are being answered now. */
  get running(): number {
    return this.#waiting;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString('utf8');
    const received: StubRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? {} : JSON.parse(text),
    };
    this.requests.push(received);
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json').end('{"data":[]}');
      return;
    }
    this.#waiting++;
    response.on('close', () => this.#waiting--);
    const next = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
    const answer = typeof next === 'function' ? next(received) : next;
    if (!answer || answer.steps === 'never') return;
    response.writeHead(answer.status ?? 200, answer.headers ?? {});
    response.flushHeaders();
    for (const step of answer.steps) {
      if (response.destroyed) return;
      if (step === 'cut') {
        // Lets what was written go out first.
        await new Promise((resolve) => setTimeout(resolve, 10));
        response.destroy();
        return;
      }
      if (typeof step === 'object' && 'waitMs' in step)
        await new Promise((resolve) => setTimeout(resolve, step.waitMs));
      else response.write(step);
    }
    response.end();
  }
}

const SSE = { 'content-type': 'text/event-stream' };

/** A streamed completion from chunks' deltas, properly ended. */
export function completion(...deltas: object[]): StubAnswer {
  return {
    headers: SSE,
    steps: [...deltas.map((delta) => chunk(delta)), chunk({}, 'stop'), 'data: [DONE]\n\n'],
  };
}

/** As `completion`, but with steps of any sort and no end of its own. */
export function eventStream(...steps: StubStep[]): StubAnswer {
  return { headers: SSE, steps };
}

/** One event of a completion stream. */
export function chunk(delta: object, finishReason: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;
}

/** Audio of `/audio/speech`. */
export function pcm(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}
