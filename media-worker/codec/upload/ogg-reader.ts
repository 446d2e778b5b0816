import { OGG_HEADER_BYTES, PAGE_CONTINUES, PAGE_ENDS_STREAM } from '../ogg.ts';

/** A packet of one logical stream. */
export interface OggPacket {
  readonly bytes: Uint8Array;
  /** Where the stream ends, on its last packet; null on all others. */
  readonly endGranule: bigint | null;
}

/** Longer ones are no audio; they would only be gathered. */
const MAX_PACKET_BYTES = 1_000_000;

/**
 * The packets of the first logical stream (RFC 3533). Pages of other streams and damaged bytes are passed over; a
 * packet whose pages are incomplete is dropped.
 */
export function* readOggPackets(file: Uint8Array): Generator<OggPacket> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let serial: number | null = null;
  let open: Uint8Array[] = [];
  let openBytes = 0;
  for (let at = findPage(file, 0); at !== -1; at = findPage(file, at)) {
    const segments = file[at + 26] ?? 0;
    const body = at + OGG_HEADER_BYTES + segments;
    if (body > file.length) return;
    const lacing = file.subarray(at + OGG_HEADER_BYTES, body);
    const end = body + lacing.reduce((sum, size) => sum + size, 0);
    const pageSerial = view.getUint32(at + 14, true);
    serial ??= pageSerial;
    const isContinued = ((file[at + 5] ?? 0) & PAGE_CONTINUES) !== 0;
    const endsStream = ((file[at + 5] ?? 0) & PAGE_ENDS_STREAM) !== 0;
    const granule = view.getBigInt64(at + 6, true);
    at = end;
    if (pageSerial !== serial || end > file.length) continue;
    if (!isContinued) [open, openBytes] = [[], 0];
    const lastEnd = lacing.findLastIndex((size) => size < 255);
    let from = end - lacing.reduce((sum, size) => sum + size, 0);
    let start = from;
    for (const [i, size] of lacing.entries()) {
      from += size;
      if (size === 255) continue;
      open.push(file.subarray(start, from));
      start = from;
      yield {
        bytes: open.length === 1 ? (open[0] ?? new Uint8Array(0)) : Buffer.concat(open),
        endGranule: i === lastEnd && endsStream ? granule : null,
      };
      [open, openBytes] = [[], 0];
    }
    if (start < end) {
      open.push(file.subarray(start, end));
      openBytes += end - start;
      if (openBytes > MAX_PACKET_BYTES) [open, openBytes] = [[], 0];
    }
  }
}

/** Where the next page begins, from `from` on, or −1. */
function findPage(file: Uint8Array, from: number): number {
  for (let at = from; at + OGG_HEADER_BYTES <= file.length; at++) {
    if (file[at] === 0x4f && file[at + 1] === 0x67 && file[at + 2] === 0x67 && file[at + 3] === 0x53)
      return at;
  }
  return -1;
}
