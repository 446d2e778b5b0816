import { Decoder } from '@evan/opus';
import { checkShape, type DecodedAudio, UndecodableAudio } from './decoded-audio.ts';
import { readOggPackets } from './ogg-reader.ts';

/** Opus decodes to the rate of recognition by itself, and to one channel. */
const RATE_HZ = 16_000;
/** Pre-skip and granules count at 48 kHz, whatever the rate (RFC 7845). */
const RATE_RATIO = 3;
const PACKETS_AT_ONCE = 50;

/** Opus in Ogg (RFC 7845): without the samples before the beginning and after the end. */
export function* readOggOpus(file: Uint8Array): Generator<DecodedAudio> {
  const packets = readOggPackets(file);
  const head = packets.next().value;
  if (!head) throw new UndecodableAudio('broken', 'The Ogg file has no packets');
  const { preSkip, gain } = readOpusHead(head.bytes);
  packets.next();
  const trimmed = new Trimmer(preSkip);
  yield* decodeOpus(
    (function* () {
      for (const { bytes, endGranule } of packets) {
        if (endGranule !== null && endGranule > 0n) trimmed.end(Number(endGranule));
        yield bytes;
      }
    })(),
    trimmed,
    gain,
  );
}

/** Packets of Opus without a container's own rules. */
export function* decodeOpus(
  packets: Iterable<Uint8Array>,
  trimmed: Trimmer,
  gain: number,
): Generator<DecodedAudio> {
  const decoder = new Decoder({ channels: 1, sample_rate: RATE_HZ });
  decoder.gain = gain;
  let gathered: Float32Array[] = [];
  let good = 0;
  for (const packet of packets) {
    // An empty packet would ask the decoder to make something up.
    if (packet.length === 0) continue;
    const samples = tryDecode(decoder, packet);
    if (!samples) continue;
    good++;
    gathered.push(trimmed.take(samples));
    if (gathered.length < PACKETS_AT_ONCE) continue;
    yield joined(gathered);
    gathered = [];
  }
  if (good === 0) throw new UndecodableAudio('broken', 'The file has no Opus audio that can be decoded');
  yield joined(gathered);
}

/** Drops what lies before the first and after the last sample that counts. */
export class Trimmer {
  readonly #skip: number;
  #taken = 0;
  #end = Number.POSITIVE_INFINITY;

  constructor(preSkip: number) {
    this.#skip = Math.round(preSkip / RATE_RATIO);
  }

  /** Where the stream ends, in samples at 48 kHz with the pre-skip. Comes before the last packet. */
  end(granule: number): void {
    this.#end = Math.max(this.#taken, Math.round(granule / RATE_RATIO));
  }

  take(samples: Float32Array): Float32Array {
    const from = Math.max(0, this.#skip - this.#taken);
    const to = Math.min(samples.length, this.#end - this.#taken);
    this.#taken += samples.length;
    return samples.subarray(Math.min(from, samples.length), Math.max(from, to));
  }
}

/** RFC 7845 5.1. Throws `UndecodableAudio`. */
export function readOpusHead(head: Uint8Array): { readonly preSkip: number; readonly gain: number } {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (head.length < 19 || new TextDecoder().decode(head.subarray(0, 8)) !== 'OpusHead')
    throw new UndecodableAudio('broken', 'The Opus header is cut off');
  const channels = view.getUint8(9);
  checkShape(48_000, channels);
  if (view.getUint8(18) !== 0 || channels > 2)
    throw new UndecodableAudio('unknown_format', 'Opus with more than two channels is not supported');
  return { preSkip: view.getUint16(10, true), gain: view.getInt16(16, true) };
}

function tryDecode(decoder: Decoder, packet: Uint8Array): Float32Array | null {
  try {
    const bytes = decoder.decode(packet);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return Float32Array.from(
      { length: bytes.byteLength >> 1 },
      (_, i) => view.getInt16(i * 2, true) / 32_768,
    );
  } catch {
    return null;
  }
}

function joined(parts: readonly Float32Array[]): DecodedAudio {
  const samples = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return { channels: [samples], sampleRateHz: RATE_HZ };
}
