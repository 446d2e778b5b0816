import { Failure } from '../../shared/errors.ts';

/** Chunks waiting for a slow reader before the sender is told to pause, in bytes. */
const PAUSE_AT_BYTES = 262_144;

/**
 * A request's body between a pushing socket and a pulling handler: counts against the limit, pauses the socket
 * while the handler is slow.
 */
export class RequestBody implements AsyncIterable<Uint8Array> {
  readonly #maxBytes: number;
  readonly #setPaused: (paused: boolean) => void;
  #chunks: Uint8Array[] = [];
  #waitingBytes = 0;
  #totalBytes = 0;
  #end: 'open' | 'complete' | Error = 'open';
  #isPaused = false;
  #taken = false;
  #wake: () => void = () => {};

  constructor(maxBytes: number, setPaused: (paused: boolean) => void) {
    this.#maxBytes = maxBytes;
    this.#setPaused = setPaused;
  }

  /** `chunk` belongs to the body afterwards. */
  push(chunk: Uint8Array): void {
    if (this.#end !== 'open') return;
    this.#totalBytes += chunk.byteLength;
    if (this.#totalBytes > this.#maxBytes) {
      this.fail(new Failure('payload_too_large', `The body is larger than ${this.#maxBytes} bytes`));
      return;
    }
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.byteLength;
    if (this.#waitingBytes > PAUSE_AT_BYTES) this.#pause(true);
    this.#wake();
  }

  complete(): void {
    if (this.#end === 'open') this.#end = 'complete';
    this.#wake();
  }

  /** Ends the body with an error: what waits is dropped and what still comes is ignored. */
  fail(error: Error): void {
    if (this.#end === 'open') this.#end = error;
    this.#chunks = [];
    this.#pause(false);
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.#taken) throw new Error('A request body can be read once');
    this.#taken = true;
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#waitingBytes -= chunk.byteLength;
        if (this.#waitingBytes < PAUSE_AT_BYTES / 2) this.#pause(false);
        yield chunk;
      } else if (this.#end === 'complete') return;
      else if (this.#end !== 'open') throw this.#end;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  async readAll(): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this) chunks.push(chunk);
    const only = chunks.length === 1 ? chunks[0] : undefined;
    return only ?? Buffer.concat(chunks);
  }

  #pause(paused: boolean): void {
    if (paused === this.#isPaused) return;
    this.#isPaused = paused;
    this.#setPaused(paused);
  }
}
