import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { Logger } from '../../shared/log.ts';

const LENGTH_BYTES = 4;
const READ_BYTES = 262_144;

export interface SpoolOptions {
  readonly path: string;
  /** Longest file. Past it `append` refuses. */
  readonly maxBytes: number;
  readonly log: Logger;
}

/**
 * A queue of records in one file, each preceded by its length (4 bytes, big-endian). Appending is synchronous and
 * lands on disk shortly after; a record that could not be written yet is kept in memory and tried again, within
 * `maxBytes` all the same. A torn record at the end of a file that a dead process left is ignored.
 */
export class EventSpool {
  readonly path: string;
  readonly #maxBytes: number;
  readonly #log: Logger;
  #file: FileHandle | null = null;
  #pending: Buffer[] = [];
  #writtenBytes: number;
  /** Written and pending bytes together. */
  #endBytes: number;
  #readBytes = 0;
  #isFailing = false;
  #isWriteQueued = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: SpoolOptions, existingBytes = 0) {
    this.path = options.path;
    this.#maxBytes = options.maxBytes;
    this.#log = options.log;
    this.#writtenBytes = existingBytes;
    this.#endBytes = existingBytes;
  }

  /** True while records wait to be read. */
  get hasUnread(): boolean {
    return this.#readBytes < this.#endBytes;
  }

  get fillShare(): number {
    return this.#endBytes / this.#maxBytes;
  }

  /**
   * Queues a record; false when the file has reached its longest. `isRead` marks it as already read: refused as well
   * while another is unread, which it would stand behind.
   */
  append(record: Uint8Array, isRead: boolean): boolean {
    const framed = Buffer.allocUnsafe(LENGTH_BYTES + record.length);
    framed.writeUInt32BE(record.length);
    framed.set(record, LENGTH_BYTES);
    if (this.#endBytes + framed.length > this.#maxBytes || (isRead && this.hasUnread)) return false;
    this.#pending.push(framed);
    this.#endBytes += framed.length;
    if (isRead) this.#readBytes = this.#endBytes;
    this.#queueWrite();
    return true;
  }

  /** Resolves when everything appended so far was written or failed to be. Never rejects. */
  flush(): Promise<void> {
    return this.#enqueue(() => this.#writePending());
  }

  /** The next unread records, in order; empty when there are none. A file that can't be read counts as ended. */
  read(): Promise<Buffer[]> {
    return this.#enqueue(async () => {
      await this.#writePending();
      try {
        return await this.#readRecords();
      } catch (cause) {
        this.#log.error(
          { err: cause, path: this.path },
          'event spool can not be read; the rest of it is lost',
        );
        this.#readBytes = this.#endBytes;
        return [];
      }
    });
  }

  /** Closes the file and leaves it on disk. */
  async close(): Promise<void> {
    await this.flush();
    await this.#enqueue(async () => {
      await this.#file?.close().catch(() => {});
      this.#file = null;
    });
  }

  /** Closes and deletes the file. */
  remove(): Promise<void> {
    return this.#enqueue(async () => {
      this.#pending = [];
      await this.#file?.close().catch(() => {});
      this.#file = null;
      await unlink(this.path).catch(() => {});
    });
  }

  #queueWrite(): void {
    if (this.#isWriteQueued) return;
    this.#isWriteQueued = true;
    void this.#enqueue(() => this.#writePending());
  }

  async #writePending(): Promise<void> {
    this.#isWriteQueued = false;
    const count = this.#pending.length;
    if (count === 0) return;
    const batch = Buffer.concat(this.#pending);
    try {
      this.#file ??= await open(this.path, this.#writtenBytes === 0 ? 'w+' : 'r+', 0o600);
      for (let done = 0; done < batch.length; ) {
        const { bytesWritten } = await this.#file.write(
          batch,
          done,
          batch.length - done,
          this.#writtenBytes + done,
        );
        done += bytesWritten;
      }
      this.#writtenBytes += batch.length;
      this.#pending.splice(0, count);
      this.#isFailing = false;
    } catch (cause) {
      if (!this.#isFailing)
        this.#log.error(
          { err: cause, path: this.path },
          'event spool can not be written; events stay in memory',
        );
      this.#isFailing = true;
    }
  }

  async #readRecords(): Promise<Buffer[]> {
    if (this.#readBytes >= this.#writtenBytes) return this.#takePending();
    this.#file ??= await open(this.path, 'r+');
    const first = await this.#readAt(
      this.#readBytes,
      Math.min(READ_BYTES, this.#writtenBytes - this.#readBytes),
    );
    const wanted = first.length < LENGTH_BYTES ? 0 : LENGTH_BYTES + first.readUInt32BE(0);
    const bytes = wanted > first.length ? await this.#readAt(this.#readBytes, wanted) : first;
    const records: Buffer[] = [];
    let at = 0;
    while (at + LENGTH_BYTES <= bytes.length) {
      const end = at + LENGTH_BYTES + bytes.readUInt32BE(at);
      if (end > bytes.length) break;
      records.push(bytes.subarray(at + LENGTH_BYTES, end));
      at = end;
    }
    this.#readBytes = records.length === 0 ? this.#endBytes : this.#readBytes + at;
    return records;
  }

  /** Records that the disk refused: handed over from memory, in order, and gone from here. */
  #takePending(): Buffer[] {
    const unread = this.#endBytes - this.#readBytes;
    const records: Buffer[] = [];
    for (let size = 0; size < unread && this.#pending.length > 0; ) {
      const framed = this.#pending.pop();
      if (!framed) break;
      size += framed.length;
      records.unshift(framed.subarray(LENGTH_BYTES));
    }
    this.#endBytes = this.#writtenBytes + this.#pending.reduce((sum, framed) => sum + framed.length, 0);
    this.#readBytes = this.#endBytes;
    return records;
  }

  async #readAt(position: number, length: number): Promise<Buffer> {
    const room = Math.min(length, this.#writtenBytes - position);
    const buffer = Buffer.allocUnsafe(room);
    let done = 0;
    while (done < room) {
      const got = await this.#file?.read(buffer, done, room - done, position + done);
      if (!got || got.bytesRead === 0) break;
      done += got.bytesRead;
    }
    return buffer.subarray(0, done);
  }

  #enqueue<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#work.then(step);
    this.#work = result.catch(() => {});
    return result;
  }
}
