import { type DecodedAudio, UndecodableAudio } from './decoded-audio.ts';
import { decodeOpus, readOpusHead, Trimmer } from './opus-reader.ts';

/** Elements of Matroska (RFC 9559) that matter here. */
const ID = {
  segment: 0x18538067,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  contentEncodings: 0x6d80,
  cluster: 0x1f43b675,
  blockGroup: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const;

/** Those whose children are read as if they lay beside them. */
const CONTAINERS: readonly number[] = [ID.segment, ID.tracks, ID.cluster, ID.blockGroup];
const LACING_BITS = 0x06;

interface Element {
  readonly id: number;
  readonly body: Uint8Array;
}

interface Track {
  readonly number: number;
  readonly codec: string;
  readonly codecPrivate: Uint8Array;
}

/** Opus in WebM, as browsers record it. Elements of unknown size are taken for open-ended. */
export function* readWebm(file: Uint8Array): Generator<DecodedAudio> {
  const elements = readElements(file);
  const track = findAudioTrack(elements);
  if (!track) throw new UndecodableAudio('broken', 'The WebM file has no audio track');
  if (track.codec !== 'A_OPUS')
    throw new UndecodableAudio(
      'unknown_format',
      `WebM audio in ${track.codec.slice(0, 32)} is not supported`,
    );
  const { preSkip, gain } =
    track.codecPrivate.length > 0 ? readOpusHead(track.codecPrivate) : { preSkip: 0, gain: 0 };
  yield* decodeOpus(packetsOf(elements, track.number), new Trimmer(preSkip), gain);
}

/** The first one. Takes no more of `elements` than it needs, and leaves the rest to others. */
function findAudioTrack(elements: Iterator<Element>): Track | null {
  for (let step = elements.next(); !step.done; step = elements.next()) {
    if (step.value.id !== ID.trackEntry) continue;
    const track = readTrack(step.value.body);
    if (track.codec.startsWith('A_')) return track;
  }
  return null;
}

function* packetsOf(elements: Iterable<Element>, trackNumber: number): Generator<Uint8Array> {
  for (const { id, body } of elements) {
    if (id !== ID.simpleBlock && id !== ID.block) continue;
    const track = readVint(body, 0, false);
    if (!track || track.value !== trackNumber) continue;
    const flags = body[track.next + 2] ?? 0;
    // Browsers and encoders write one packet of Opus to a block.
    if ((flags & LACING_BITS) !== 0)
      throw new UndecodableAudio('unknown_format', 'WebM with laced audio is not supported');
    yield body.subarray(track.next + 3);
  }
}

function readTrack(entry: Uint8Array): Track {
  let number = 0;
  let codec = '';
  let codecPrivate: Uint8Array = new Uint8Array(0);
  for (const { id, body } of readElements(entry)) {
    if (id === ID.trackNumber) number = body.reduce((sum, byte) => sum * 256 + byte, 0);
    if (id === ID.codecId) codec = new TextDecoder('latin1').decode(body).replace(/\0.*$/s, '');
    if (id === ID.codecPrivate) codecPrivate = body;
    if (id === ID.contentEncodings)
      throw new UndecodableAudio('unknown_format', 'Compressed or encrypted WebM is not supported');
  }
  return { number, codec, codecPrivate };
}

function* readElements(bytes: Uint8Array): Generator<Element> {
  for (let at = 0; at < bytes.length; ) {
    const id = readVint(bytes, at, true);
    const size = id && readVint(bytes, id.next, false);
    if (!id || !size) return;
    const end = size.isUnknown ? bytes.length : size.next + size.value;
    if (CONTAINERS.includes(id.value)) at = size.next;
    else {
      yield { id: id.value, body: bytes.subarray(size.next, end) };
      at = end;
    }
  }
}

/** A number whose first byte tells its length (RFC 8794 4); ids keep the marker bit. Null past the end. */
function readVint(
  bytes: Uint8Array,
  at: number,
  keepsMarker: boolean,
): { readonly value: number; readonly next: number; readonly isUnknown: boolean } | null {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (first === 0 || length > 8 || at + length > bytes.length) return null;
  let value = keepsMarker ? first : first & (0xff >> length);
  let isUnknown = (first & (0xff >> length)) === 0xff >> length;
  for (let i = 1; i < length; i++) {
    const byte = bytes[at + i] ?? 0;
    value = value * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { value, next: at + length, isUnknown };
}
