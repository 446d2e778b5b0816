const HEADER_BYTES = 8;
/** A sentence of 300 characters is below 2 MB of audio. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** A message between the engine and its side process: a JSON value and raw bytes. */
export interface Frame {
  readonly json: unknown;
  readonly bytes: Uint8Array;
}

/** On the wire: length of the JSON and of the bytes (both 32-bit little endian), the JSON in UTF-8, the bytes. */
export function encodeFrame(json: unknown, bytes: Uint8Array = new Uint8Array(0)): Buffer {
  const text = Buffer.from(JSON.stringify(json), 'utf8');
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(text.length, 0);
  header.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([header, text, bytes]);
}

/** Puts frames together from a byte stream. Throws on one that can't be right; the stream is then lost. */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0);

  push(chunk: Uint8Array): Frame[] {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    const frames: Frame[] = [];
    while (this.#pending.length >= HEADER_BYTES) {
      const jsonEnd = HEADER_BYTES + this.#pending.readUInt32LE(0);
      const end = jsonEnd + this.#pending.readUInt32LE(4);
      if (end > MAX_FRAME_BYTES) throw new Error('a frame is too long');
      if (this.#pending.length < end) break;
      frames.push({
        json: JSON.parse(this.#pending.toString('utf8', HEADER_BYTES, jsonEnd)),
        bytes: new Uint8Array(this.#pending.subarray(jsonEnd, end)),
      });
      this.#pending = this.#pending.subarray(end);
    }
    return frames;
  }
}
