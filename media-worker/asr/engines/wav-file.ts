const HEADER_BYTES = 44;

/** A WAV file of mono 16-bit PCM (RIFF, WAVE_FORMAT_PCM). */
export function wavFile(pieces: readonly Int16Array[], sampleRateHz: number): Buffer {
  const dataBytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  const file = Buffer.alloc(HEADER_BYTES + dataBytes);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(dataBytes + 36, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(sampleRateHz, 24);
  file.writeUInt32LE(sampleRateHz * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(dataBytes, 40);
  let at = HEADER_BYTES;
  for (const piece of pieces) {
    file.set(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength), at);
    at += piece.byteLength;
  }
  return file;
}
