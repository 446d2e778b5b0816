import type { DataChannel } from './wrtc.ts';

/** What may wait in the channel before messages are dropped, in bytes. A stalled client costs no more memory. */
const MAX_BUFFERED_BYTES = 1_048_576;

/**
 * Sends on a data channel, from before it opens: early messages wait, in order. Past 1 MiB of waiting bytes new
 * messages are dropped and counted.
 */
export class DataPipe {
  readonly #channel: DataChannel;
  #early: (string | Uint8Array)[] = [];
  #earlyBytes = 0;
  #dropped = 0;

  constructor(channel: DataChannel) {
    this.#channel = channel;
    channel.onopen = () => {
      const early = this.#early;
      this.#early = [];
      this.#earlyBytes = 0;
      for (const message of early) this.#push(message);
    };
  }

  get isOpen(): boolean {
    return this.#channel.readyState === 'open';
  }

  get bufferedBytes(): number {
    return this.isOpen ? this.#channel.bufferedAmount : this.#earlyBytes;
  }

  get droppedMessages(): number {
    return this.#dropped;
  }

  /** False when the message was dropped. A view is copied. */
  send(message: string | Uint8Array): boolean {
    const size = typeof message === 'string' ? Buffer.byteLength(message) : message.byteLength;
    if (this.#channel.readyState === 'connecting') {
      if (this.#earlyBytes + size > MAX_BUFFERED_BYTES) return this.#drop();
      this.#earlyBytes += size;
      this.#early.push(typeof message === 'string' ? message : new Uint8Array(message));
      return true;
    }
    if (!this.isOpen || this.#channel.bufferedAmount + size > MAX_BUFFERED_BYTES) return this.#drop();
    return this.#push(message);
  }

  #push(message: string | Uint8Array): boolean {
    try {
      this.#channel.send(typeof message === 'string' ? message : new Uint8Array(message));
      return true;
    } catch {
      // The addon throws when the channel closed under us.
      return this.#drop();
    }
  }

  #drop(): boolean {
    this.#dropped += 1;
    return false;
  }
}

/** A message as bytes, whichever form it was sent in. */
export function messageBytes(data: string | ArrayBuffer): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data) : new Uint8Array(data);
}
