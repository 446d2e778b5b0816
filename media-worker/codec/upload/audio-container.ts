/** What an upload is written in, by its first bytes; the name a client gave it says little. */
export type AudioContainer = 'wav' | 'mp3' | 'flac' | 'ogg' | 'webm' | 'mp4' | 'adts' | 'unknown';

export function audioContainer(bytes: Uint8Array): AudioContainer {
  const tag = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
  const [first = 0, second = 0] = bytes;
  if ((tag(0) === 'RIFF' || tag(0) === 'RF64') && tag(8) === 'WAVE') return 'wav';
  if (tag(0) === 'OggS') return 'ogg';
  if (tag(0) === 'fLaC') return 'flac';
  if (tag(4) === 'ftyp') return 'mp4';
  if (first === 0x1a && second === 0x45 && bytes[2] === 0xdf && bytes[3] === 0xa3) return 'webm';
  if (tag(0).startsWith('ID3')) return 'mp3';
  // Both begin with eleven set bits; the layer is 0 in ADTS and never in MPEG audio.
  if (first === 0xff && (second & 0xf6) === 0xf0) return 'adts';
  if (first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0) return 'mp3';
  return 'unknown';
}
