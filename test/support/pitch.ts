/** A sine of `hz`, mono PCM. The phase starts at zero. */
export function tone(hz: number, ms: number, rateHz: number, amplitude = 8_000): Int16Array {
  const samples = new Int16Array(Math.round((ms * rateHz) / 1000));
  for (let i = 0; i < samples.length; i++) {
    samples[i] = Math.round(amplitude * Math.sin((2 * Math.PI * hz * i) / rateHz));
  }
  return samples;
}

/**
 * The share of the energy of `samples` that lies in a sine of `toneHz`: 1 for that sine alone, 0 for silence and
 * for other sounds. Goertzel's filter; two tones are told apart when they lie 2 / duration apart.
 */
export function toneShare(samples: Int16Array, rateHz: number, toneHz: number): number {
  const turn = 2 * Math.cos((2 * Math.PI * toneHz) / rateHz);
  let energy = 0;
  let last = 0;
  let beforeLast = 0;
  for (const sample of samples) {
    energy += sample * sample;
    [last, beforeLast] = [sample + turn * last - beforeLast, last];
  }
  if (energy === 0) return 0;
  const power = last * last + beforeLast * beforeLast - turn * last * beforeLast;
  return (2 * power) / (samples.length * energy);
}

/** Energy of `part` relative to `whole`, both as mean power, in decibels. */
export function levelDb(part: Int16Array, whole: Int16Array): number {
  return 10 * Math.log10(meanPower(part) / meanPower(whole));
}

function meanPower(samples: Int16Array): number {
  return samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
}
