/** Kinds of frames to the host; their meaning stands in `pocketsphinx_host.py`. */
export const HOST_FRAMES = { open: 1, pcm: 2, end: 3, abort: 4, close: 5 } as const;
export type HostFrameKind = keyof typeof HOST_FRAMES;

const HEADER_BYTES = 13;

/** A frame on the host's standard input. `samples` are copied. */
export function encodeHostFrame(
  kind: HostFrameKind,
  session: number,
  utterance: number,
  samples: Int16Array = new Int16Array(0),
): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + samples.byteLength);
  frame.writeUInt32LE(frame.length - 4, 0);
  frame.writeUInt8(HOST_FRAMES[kind], 4);
  frame.writeUInt32LE(session, 5);
  frame.writeUInt32LE(utterance, 9);
  frame.set(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength), HEADER_BYTES);
  return frame;
}

/** A word as it was heard, in ms from the utterance's first sample; `p` is how sure of it the recogniser is. */
export interface HeardWord {
  readonly w: string;
  readonly start: number;
  readonly end: number;
  readonly p: number;
}

/** A line on the host's standard output. */
export type HostMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'open'; readonly session: number }
  | HeardMessage
  | {
      readonly type: 'failed';
      readonly session: number;
      readonly utterance: number;
      readonly message: string;
    };

export type HeardMessage =
  | { readonly type: 'partial'; readonly utterance: number; readonly text: string; readonly ms: number }
  | {
      readonly type: 'final';
      readonly utterance: number;
      readonly text: string;
      readonly confidence: number;
      readonly words: readonly HeardWord[];
      readonly ms: number;
    };

/** Null for a line that is not the host's. The host is our own, so its shapes are taken at their word. */
export function parseHostLine(line: string): HostMessage | null {
  if (!line.startsWith('{"type":')) return null;
  try {
    return JSON.parse(line) as HostMessage;
  } catch {
    return null;
  }
}
