import { pcmBytes } from './pcm.ts';
import { joinBytes, NO_BYTES, type StreamEncoder } from './stream-encoder.ts';

/** What a stream says whose length nobody knows yet: as long as the format allows, in whole blocks. */
const UNKNOWN_RIFF_BYTES = 4_294_967_076;
const UNKNOWN_DATA_BYTES = 4_294_967_040;

/** The 44 bytes before mono 16-bit PCM. Null: a stream whose length is not known. */
export function wavHeader(sampleRateHz: number, dataBytes: number | null): Uint8Array {
  const header = new DataView(new ArrayBuffer(44));
  const text = (at: number, chars: string) => {
    for (let i = 0; i < chars.length; i++) header.setUint8(at + i, chars.charCodeAt(i));
  };
  text(0, 'RIFF');
  header.setUint32(4, dataBytes === null ? UNKNOWN_RIFF_BYTES : dataBytes + 36, true);
  text(8, 'WAVEfmt ');
  header.setUint32(16, 16, true);
  header.setUint16(20, 1, true);
  header.setUint16(22, 1, true);
  header.setUint32(24, sampleRateHz, true);
  header.setUint32(28, sampleRateHz * 2, true);
  header.setUint16(32, 2, true);
  header.setUint16(34, 16, true);
  text(36, 'data');
  header.setUint32(40, dataBytes ?? UNKNOWN_DATA_BYTES, true);
  return new Uint8Array(header.buffer);
}

/** Samples as they are. */
export function createPcmEncoder(): StreamEncoder {
  return { encode: pcmBytes, settle: () => NO_BYTES, finish: () => NO_BYTES };
}

/** A WAV stream: the header comes with the first samples. */
export function createWavEncoder(sampleRateHz: number): StreamEncoder {
  let hasHeader = false;
  const withHeader = (bytes: Uint8Array) => {
    if (hasHeader) return bytes;
    hasHeader = true;
    return joinBytes([wavHeader(sampleRateHz, null), bytes]);
  };
  return {
    encode: (samples) => (samples.length === 0 ? NO_BYTES : withHeader(pcmBytes(samples))),
    settle: () => NO_BYTES,
    finish: () => withHeader(NO_BYTES),
  };
}
