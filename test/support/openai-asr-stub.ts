import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface TranscriptionRequest {
  readonly path: string;
  readonly authorization: string | null;
  readonly fields: Readonly<Record<string, string>>;
  /** The file's PCM, its WAV header taken off. */
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
}

/** `'never'`: the request is taken and nothing is answered, not even headers. */
export type TranscriptionAnswer =
  | { readonly status: number; readonly json: unknown }
  | { readonly events: readonly unknown[]; readonly waitMs?: number }
  | 'never';

/** OpenAI's `POST /audio/transcriptions` on loopback, answering by a function of what it was sent. */
export class OpenAiAsrStub {
  readonly requests: TranscriptionRequest[] = [];
  answer: (request: TranscriptionRequest) => TranscriptionAnswer = () => ({
    status: 200,
    json: { text: '' },
  });
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor() {
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://${this.host}/v1`;
  }

  /** `host:port`, as the list of allowed hosts wants it. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections open now. */
  get connections(): number {
    return this.#sockets.size;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const received = await readRequest(request, Buffer.concat(pieces));
    this.requests.push(received);
    const answer = this.answer(received);
    if (answer === 'never') return;
    if ('json' in answer) {
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.json));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of answer.events) {
      response.write(`data: ${JSON.stringify(event)}\n\n`);
      await new Promise((resolve) => setTimeout(resolve, answer.waitMs ?? 0));
    }
    response.end();
  }
}

async function readRequest(request: IncomingMessage, body: Buffer): Promise<TranscriptionRequest> {
  const contentType = request.headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': contentType },
  }).formData();
  const fields: Record<string, string> = {};
  let wav = new Uint8Array(0);
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = value;
    else wav = new Uint8Array(await value.arrayBuffer());
  }
  const view = new DataView(wav.buffer);
  return {
    path: request.url ?? '',
    authorization: request.headers.authorization ?? null,
    fields,
    samples: new Int16Array(wav.buffer.slice(44)),
    sampleRateHz: view.getUint32(24, true),
  };
}
