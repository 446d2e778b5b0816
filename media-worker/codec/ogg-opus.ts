import { Encoder } from '@evan/opus';
import { PAGE_BEGINS_STREAM, PAGE_ENDS_STREAM, writeOggPage } from './ogg.ts';
import { joinBytes, NO_BYTES, type StreamEncoder } from './stream-encoder.ts';

const RATE_HZ = 48_000;
const FRAME_SAMPLES = 960;
/** libopus' look-ahead at 48 kHz, which a decoder drops from the start. */
const PRE_SKIP_SAMPLES = 312;
/** Enough for speech, at half the CPU of the highest. */
const COMPLEXITY = 5;

/** Opus in Ogg (RFC 7845), mono at 48 kHz. Each call's packets make up a page, so that nothing waits for more. */
export function createOggOpusEncoder(bitrateBps: number | null, serial: number): StreamEncoder {
  const encoder = new Encoder({ channels: 1, sample_rate: RATE_HZ, application: 'audio' });
  encoder.complexity = COMPLEXITY;
  encoder.signal = 'voice';
  encoder.bitrate = bitrateBps ?? 'auto';
  const frame = new Int16Array(FRAME_SAMPLES);
  let filled = 0;
  let takenSamples = 0;
  let encodedSamples = 0;
  let sequence = 0;
  let isUnsettled = false;
  let held: Uint8Array[] = [];

  const page = (packets: readonly Uint8Array[], granule: number, flags: number) =>
    writeOggPage({ serial, sequence: sequence++, granule: BigInt(granule), flags, packets });

  function begin(): Uint8Array[] {
    if (sequence > 0) return [];
    return [page([opusHead()], 0, PAGE_BEGINS_STREAM), page([opusTags()], 0, 0)];
  }

  function take(samples: Int16Array): void {
    for (let at = 0; at < samples.length; ) {
      const count = Math.min(samples.length - at, FRAME_SAMPLES - filled);
      frame.set(samples.subarray(at, at + count), filled);
      at += count;
      filled += count;
      if (filled < FRAME_SAMPLES) continue;
      held.push(encoder.encode(frame).slice());
      encodedSamples += FRAME_SAMPLES;
      filled = 0;
    }
  }

  function writeHeld(): Uint8Array {
    if (held.length === 0) return NO_BYTES;
    const bytes = joinBytes([...begin(), page(held, encodedSamples, 0)]);
    held = [];
    return bytes;
  }

  return {
    encode: (samples) => {
      takenSamples += samples.length;
      isUnsettled ||= samples.length > 0;
      take(samples);
      return writeHeld();
    },
    settle: () => {
      if (!isUnsettled) return NO_BYTES;
      // One frame that is filled up, and one that pushes it through the encoder's look-ahead.
      const silence = 2 * FRAME_SAMPLES - filled;
      take(new Int16Array(silence));
      takenSamples += silence;
      isUnsettled = false;
      return writeHeld();
    },
    finish: () => {
      const endSamples = takenSamples + PRE_SKIP_SAMPLES;
      while (encodedSamples < endSamples) take(new Int16Array(FRAME_SAMPLES - filled));
      const bytes = joinBytes([...begin(), page(held, endSamples, PAGE_ENDS_STREAM)]);
      held = [];
      return bytes;
    },
  };
}

function opusHead(): Uint8Array {
  const head = new DataView(new ArrayBuffer(19));
  new Uint8Array(head.buffer).set(new TextEncoder().encode('OpusHead'));
  head.setUint8(8, 1);
  head.setUint8(9, 1);
  head.setUint16(10, PRE_SKIP_SAMPLES, true);
  head.setUint32(12, RATE_HZ, true);
  return new Uint8Array(head.buffer);
}

function opusTags(): Uint8Array {
  const vendor = new TextEncoder().encode('parley');
  const tags = new DataView(new ArrayBuffer(16 + vendor.length));
  const bytes = new Uint8Array(tags.buffer);
  bytes.set(new TextEncoder().encode('OpusTags'));
  tags.setUint32(8, vendor.length, true);
  bytes.set(vendor, 12);
  return bytes;
}
