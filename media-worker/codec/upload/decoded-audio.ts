/** A stretch of decoded audio. */
export interface DecodedAudio {
  /** One array per channel, all of one length; −1 to 1. */
  readonly channels: readonly Float32Array[];
  readonly sampleRateHz: number;
}

/** Why an upload can't be decoded. The message is for the caller. */
export class UndecodableAudio extends Error {
  readonly kind: 'unknown_format' | 'broken';

  constructor(kind: UndecodableAudio['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'UndecodableAudio';
    this.kind = kind;
  }
}

/** More channels than any recording of speech has. */
export const MAX_CHANNELS = 8;

/** Throws `UndecodableAudio` for figures that no recording has; they would only serve to fill memory. */
export function checkShape(sampleRateHz: number, channels: number): void {
  if (sampleRateHz < 4_000 || sampleRateHz > 192_000)
    throw new UndecodableAudio('broken', `A sample rate of ${sampleRateHz} Hz is out of range`);
  if (channels < 1 || channels > MAX_CHANNELS)
    throw new UndecodableAudio('broken', `Audio with ${channels} channels is not supported`);
}

/** Pieces of an upload, each a view of it. */
export function* inPieces(bytes: Uint8Array, pieceBytes: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}
