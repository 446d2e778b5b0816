import { endianness } from 'node:os';

const IS_LITTLE_ENDIAN = endianness() === 'LE';

/** The samples as little-endian bytes, with a buffer of their own. */
export function pcmBytes(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length * 2);
  if (IS_LITTLE_ENDIAN) {
    bytes.set(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
    return bytes;
  }
  const view = new DataView(bytes.buffer);
  for (const [i, sample] of samples.entries()) view.setInt16(i * 2, sample, true);
  return bytes;
}

export function toFloat(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let i = 0; i < samples.length; i++) floats[i] = (samples[i] ?? 0) / 32_768;
  return floats;
}

/** Rounds to 16 bit; what lies past full scale is held there. */
export function toInt16(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
