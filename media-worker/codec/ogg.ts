/** Ogg pages (RFC 3533): writing whole packets, and what both directions share. */
export const OGG_HEADER_BYTES = 27;
/** A packet longer than this takes more than one page; the writer refuses it. */
const MAX_PAGE_SEGMENTS = 255;

export const PAGE_CONTINUES = 1;
export const PAGE_BEGINS_STREAM = 2;
export const PAGE_ENDS_STREAM = 4;

export interface OggPage {
  readonly serial: number;
  readonly sequence: number;
  /** Position at the end of the page's last packet, in the codec's own samples. */
  readonly granule: bigint;
  readonly flags: number;
  /** Whole packets; all of them must fit one page. */
  readonly packets: readonly Uint8Array[];
}

export function writeOggPage(page: OggPage): Uint8Array {
  const lacing = page.packets.flatMap((packet) => [
    ...new Array<number>(Math.floor(packet.length / 255)).fill(255),
    packet.length % 255,
  ]);
  if (lacing.length > MAX_PAGE_SEGMENTS) throw new RangeError('the packets do not fit one Ogg page');
  const size = page.packets.reduce((sum, packet) => sum + packet.length, 0);
  const bytes = new Uint8Array(OGG_HEADER_BYTES + lacing.length + size);
  const view = new DataView(bytes.buffer);
  bytes.set([0x4f, 0x67, 0x67, 0x53]); // OggS
  bytes[5] = page.flags;
  view.setBigInt64(6, page.granule, true);
  view.setUint32(14, page.serial, true);
  view.setUint32(18, page.sequence, true);
  bytes[26] = lacing.length;
  bytes.set(lacing, OGG_HEADER_BYTES);
  let at = OGG_HEADER_BYTES + lacing.length;
  for (const packet of page.packets) {
    bytes.set(packet, at);
    at += packet.length;
  }
  view.setUint32(22, oggChecksum(bytes), true);
  return bytes;
}

/** The page's CRC (polynomial 0x04c11db7, no reflection); its own field must be zero. */
export function oggChecksum(page: Uint8Array): number {
  let crc = 0;
  for (let i = 0; i < page.length; i++) {
    crc = ((crc << 8) ^ (CRC_TABLE[((crc >>> 24) ^ (page[i] ?? 0)) & 255] ?? 0)) >>> 0;
  }
  return crc;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit++)
    value = (value & 0x80000000) !== 0 ? (value << 1) ^ 0x04c11db7 : value << 1;
  return value >>> 0;
});
