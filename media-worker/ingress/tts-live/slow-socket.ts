import type { ServerSocket } from '../socket-server.ts';

export class SocketGone extends Error {
  constructor() {
    super('the socket is gone or takes no more');
    this.name = 'SocketGone';
  }
}

/** A socket whose sender waits for a slow reader instead of filling memory. */
export class SlowSocket {
  readonly #socket: ServerSocket;
  #isClosed = false;
  /** Those who wait for the queue to empty. */
  #waiting: (() => void)[] = [];
  #isFull = false;

  constructor(socket: ServerSocket) {
    this.#socket = socket;
  }

  /** Resolves when there is room for the next frame. Rejects with `SocketGone`. */
  async send(frame: Uint8Array): Promise<void> {
    if (this.#isClosed) throw new SocketGone();
    const result = this.#socket.send(frame);
    if (result === 'dropped') throw new SocketGone();
    if (result === 'queued') this.#isFull = true;
    while (this.#isFull && !this.#isClosed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#isClosed) throw new SocketGone();
  }

  drained(): void {
    this.#isFull = false;
    this.#wake();
  }

  closed(): void {
    this.#isClosed = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
