/** Noise is the same on every machine and every run: integers and sums, no library function. */
export type NoiseColour = 'white' | 'pink';

/** Numbers from 0 to below 1 (xorshift of 32 bits). */
function randomNumbers(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}

/** Near-normal white noise, or pink (−3 dB an octave), before scaling. */
function rawNoise(colour: NoiseColour, length: number, seed: number): Float64Array {
  const next = randomNumbers(seed);
  const raw = new Float64Array(length);
  // Paul Kellet's filter: three one-pole low-passes, within 0.5 dB of pink from 40 Hz on at 16 kHz.
  let [low, middle, high] = [0, 0, 0];
  for (let i = 0; i < length; i++) {
    const white = next() + next() + next() + next() - 2;
    low = 0.99765 * low + white * 0.099046;
    middle = 0.963 * middle + white * 0.2965164;
    high = 0.57 * high + white * 1.0526913;
    raw[i] = colour === 'white' ? white : low + middle + high + white * 0.1848;
  }
  return raw;
}

/** Noise with the given root mean square, in units of a 16-bit sample. */
export function noise(colour: NoiseColour, length: number, rms: number, seed = 1): Int16Array {
  const raw = rawNoise(colour, length, seed);
  const gain = rms / Math.sqrt(raw.reduce((sum, x) => sum + x * x, 0) / Math.max(1, length));
  return Int16Array.from(raw, (x) => clamp(x * gain));
}

/** `speech` with noise under it, `snrDb` below the mean power of the speech where it is loud. */
export function withNoise(speech: Int16Array, colour: NoiseColour, snrDb: number, seed = 1): Int16Array {
  const rms = activeRms(speech) / 10 ** (snrDb / 20);
  const under = noise(colour, speech.length, rms, seed);
  return Int16Array.from(speech, (sample, i) => clamp(sample + (under[i] ?? 0)));
}

/** Root mean square over the 20 ms blocks (at 16 kHz) within 30 dB of the loudest: pauses don't count. */
export function activeRms(samples: Int16Array): number {
  const powers: number[] = [];
  for (let at = 0; at + 320 <= samples.length; at += 320) {
    powers.push(samples.subarray(at, at + 320).reduce((sum, x) => sum + x * x, 0) / 320);
  }
  const floor = Math.max(...powers) / 1000;
  const loud = powers.filter((power) => power >= floor);
  return Math.sqrt(loud.reduce((sum, power) => sum + power, 0) / Math.max(1, loud.length));
}

function clamp(sample: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(sample)));
}
