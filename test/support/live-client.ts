import { decode, encode } from '@msgpack/msgpack';
import WebSocket from 'ws';

export interface LiveEvent {
  readonly event: string;
  readonly audio?: Uint8Array;
  readonly reason?: string;
  readonly message?: string;
  readonly content?: string;
  readonly chunk_seq?: number;
  readonly chunk_audio_offset_sec?: number;
  readonly alignment?: {
    segments: { text: string; start: number; end: number }[];
    audio_duration: number;
  } | null;
}

/** A client of the realtime socket that keeps everything it hears. */
export class LiveClient {
  readonly events: LiveEvent[] = [];
  readonly socket: WebSocket;
  closed: { code: number; reason: string } | null = null;
  #wake: () => void = () => {};

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      this.events.push(decode(data) as LiveEvent);
      this.#wake();
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.#wake();
    });
  }

  /** Rejects with the status of a refused upgrade. */
  static open(url: string, headers: Record<string, string>): Promise<LiveClient> {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
    const client = new LiveClient(socket);
    return new Promise((resolve, reject) => {
      socket.on('open', () => resolve(client));
      socket.on('unexpected-response', (_req, res) => {
        reject(new Error(`status ${res.statusCode}`));
        socket.terminate();
      });
      socket.on('error', reject);
    });
  }

  say(message: unknown): void {
    this.socket.send(encode(message));
  }

  start(request: object = {}): void {
    this.say({ event: 'start', request: { text: '', format: 'pcm', sample_rate: 16_000, ...request } });
  }

  text(text: string): void {
    this.say({ event: 'text', text });
  }

  /** Waits until `is` holds, for at most 5 s. */
  async until(what: string, is: () => boolean): Promise<void> {
    const endMs = performance.now() + 5_000;
    while (!is()) {
      const leftMs = endMs - performance.now();
      if (leftMs <= 0)
        throw new Error(`${what}: not within 5 s; heard ${this.events.map((e) => e.event).join(' ')}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(leftMs, 200));
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** The `count`-th finish since the beginning. */
  async finish(count = 1): Promise<LiveEvent> {
    const finishes = () => this.events.filter((event) => event.event === 'finish');
    await this.until(`finish ${count}`, () => finishes().length >= count);
    return finishes()[count - 1] ?? { event: 'none' };
  }

  /** All audio so far, as 16-bit samples. */
  samples(from = 0): Int16Array {
    const parts = this.events.slice(from).flatMap((event) => (event.audio ? [event.audio] : []));
    const bytes = Uint8Array.from(Buffer.concat(parts));
    return new Int16Array(bytes.buffer, 0, bytes.length >> 1);
  }
}
