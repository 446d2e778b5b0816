import { FLACDecoder } from '@wasm-audio-decoders/flac';
import { OggVorbisDecoder } from '@wasm-audio-decoders/ogg-vorbis';
import { MPEGDecoder } from 'mpg123-decoder';
import { checkShape, type DecodedAudio, inPieces, UndecodableAudio } from './decoded-audio.ts';

/** A few bytes of FLAC can stand for a second of silence, so little is fed at once. */
const FLAC_PIECE_BYTES = 1_024;
const VORBIS_PIECE_BYTES = 4_096;
const MP3_PIECE_BYTES = 16_384;

interface LibraryAudio {
  readonly channelData: readonly Float32Array[];
  readonly samplesDecoded: number;
  readonly sampleRate: number;
}

interface LibraryDecoder {
  readonly ready: Promise<void>;
  free(): void;
  decode(bytes: Uint8Array): LibraryAudio | Promise<LibraryAudio>;
  flush?(): Promise<LibraryAudio>;
}

export function readMp3(file: Uint8Array): AsyncGenerator<DecodedAudio> {
  return readWith(new MPEGDecoder(), file, MP3_PIECE_BYTES, 'MP3');
}

export function readFlac(file: Uint8Array): AsyncGenerator<DecodedAudio> {
  // STREAMINFO (RFC 9639 8.2): 20 bits of sample rate, 3 of channels less one.
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < 42) throw new UndecodableAudio('broken', 'The FLAC header is cut off');
  const figures = view.getUint32(18);
  checkShape(figures >>> 12, ((figures >>> 9) & 7) + 1);
  return readWith(new FLACDecoder(), file, FLAC_PIECE_BYTES, 'FLAC');
}

export function readOggVorbis(file: Uint8Array, identification: Uint8Array): AsyncGenerator<DecodedAudio> {
  const view = new DataView(identification.buffer, identification.byteOffset, identification.byteLength);
  if (identification.length < 30) throw new UndecodableAudio('broken', 'The Vorbis header is cut off');
  checkShape(view.getUint32(12, true), view.getUint8(11));
  return readWith(new OggVorbisDecoder(), file, VORBIS_PIECE_BYTES, 'Vorbis');
}

async function* readWith(
  decoder: LibraryDecoder,
  file: Uint8Array,
  pieceBytes: number,
  name: string,
): AsyncGenerator<DecodedAudio> {
  await decoder.ready;
  let decoded = 0;
  try {
    for (const piece of inPieces(file, pieceBytes)) {
      const audio = await decoder.decode(piece);
      decoded += audio.samplesDecoded;
      if (audio.samplesDecoded > 0) yield toDecoded(audio);
    }
    const rest = await decoder.flush?.();
    if (rest && rest.samplesDecoded > 0) yield toDecoded(rest);
    decoded += rest?.samplesDecoded ?? 0;
  } catch (cause) {
    if (cause instanceof UndecodableAudio) throw cause;
    throw new UndecodableAudio('broken', `The ${name} audio can not be decoded`, cause);
  } finally {
    decoder.free();
  }
  if (decoded === 0)
    throw new UndecodableAudio('broken', `The file has no ${name} audio that can be decoded`);
}

function toDecoded({ channelData, samplesDecoded, sampleRate }: LibraryAudio): DecodedAudio {
  checkShape(sampleRate, channelData.length);
  return {
    channels: channelData.map((channel) => channel.subarray(0, samplesDecoded)),
    sampleRateHz: sampleRate,
  };
}
