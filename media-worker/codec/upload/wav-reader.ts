import { checkShape, type DecodedAudio, inPieces, UndecodableAudio } from './decoded-audio.ts';

interface WavFormat {
  readonly code: number;
  readonly channels: number;
  readonly sampleRateHz: number;
  readonly sampleBytes: number;
}

const PCM = 1;
const FLOAT = 3;
const A_LAW = 6;
const MU_LAW = 7;
const EXTENSIBLE = 0xfffe;
const FRAMES_AT_ONCE = 48_000;

/** WAV with PCM of 8 to 32 bits, floats, A-law or µ-law. A data size past the end means: to the end. */
export function* readWav(bytes: Uint8Array): Generator<DecodedAudio> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: WavFormat | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = String.fromCharCode(...bytes.subarray(at, at + 4));
    const size = view.getUint32(at + 4, true);
    const body = at + 8;
    if (name === 'fmt ') format = readFormat(view, body, size);
    if (name === 'data') {
      if (!format) throw new UndecodableAudio('broken', 'The WAV file has no format before its data');
      yield* readSamples(bytes.subarray(body, Math.min(bytes.length, body + size)), format);
      return;
    }
    at = body + size + (size % 2);
  }
  throw new UndecodableAudio('broken', 'The WAV file has no data');
}

function readFormat(view: DataView, at: number, size: number): WavFormat {
  if (size < 16 || at + size > view.byteLength)
    throw new UndecodableAudio('broken', 'The WAV header is cut off');
  const given = view.getUint16(at, true);
  const code = given === EXTENSIBLE && size >= 26 ? view.getUint16(at + 24, true) : given;
  const channels = view.getUint16(at + 2, true);
  const sampleRateHz = view.getUint32(at + 4, true);
  const sampleBytes = view.getUint16(at + 14, true) / 8;
  checkShape(sampleRateHz, channels);
  const allowed = { [PCM]: [1, 2, 3, 4], [FLOAT]: [4, 8], [A_LAW]: [1], [MU_LAW]: [1] }[code];
  if (!allowed?.includes(sampleBytes))
    throw new UndecodableAudio(
      'unknown_format',
      `WAV audio of kind ${code} with ${sampleBytes * 8} bits is not supported`,
    );
  return { code, channels, sampleRateHz, sampleBytes };
}

function* readSamples(data: Uint8Array, format: WavFormat): Generator<DecodedAudio> {
  const { channels, sampleBytes, sampleRateHz } = format;
  const frameBytes = channels * sampleBytes;
  const read = sampleReader(format);
  for (const piece of inPieces(data, FRAMES_AT_ONCE * frameBytes)) {
    const frames = Math.floor(piece.length / frameBytes);
    const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
    yield {
      sampleRateHz,
      channels: Array.from({ length: channels }, (_, channel) =>
        Float32Array.from({ length: frames }, (_, frame) =>
          read(view, frame * frameBytes + channel * sampleBytes),
        ),
      ),
    };
  }
}

function sampleReader({ code, sampleBytes }: WavFormat): (view: DataView, at: number) => number {
  if (code === MU_LAW) return (view, at) => fromMuLaw(view.getUint8(at)) / 32_768;
  if (code === A_LAW) return (view, at) => fromALaw(view.getUint8(at)) / 32_768;
  if (code === FLOAT)
    return sampleBytes === 4
      ? (view, at) => view.getFloat32(at, true)
      : (view, at) => view.getFloat64(at, true);
  switch (sampleBytes) {
    case 1:
      return (view, at) => (view.getUint8(at) - 128) / 128;
    case 2:
      return (view, at) => view.getInt16(at, true) / 32_768;
    case 3:
      return (view, at) => (view.getUint16(at, true) | (view.getInt8(at + 2) << 16)) / 8_388_608;
    default:
      return (view, at) => view.getInt32(at, true) / 2_147_483_648;
  }
}

/** ITU-T G.711. */
function fromMuLaw(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 7)) - 0x84;
  return (bits & 0x80) !== 0 ? -magnitude : magnitude;
}

function fromALaw(byte: number): number {
  const bits = byte ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const mantissa = (bits & 0x0f) << 4;
  const magnitude = exponent === 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1);
  return (bits & 0x80) !== 0 ? magnitude : -magnitude;
}
