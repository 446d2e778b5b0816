import type { VadEngine, VadStream } from '../../media-worker/vad/vad-engine.ts';

/** Root mean square from which on a frame is speech, in units of a 16-bit sample. */
const SPEECH_RMS = 500;

/** A `VadEngine` that takes every loud sound for speech: tones will do where a test needs a caller. */
export function createLoudnessVad(frameSamples = 512): VadEngine {
  return { name: 'loudness', sampleRateHz: 16_000, frameSamples, open: () => open(frameSamples) };
}

function open(frameSamples: number): VadStream {
  let isOpen = true;
  const check = () => {
    if (!isOpen) throw new Error('the voice activity stream is closed');
  };
  return {
    probability(samples) {
      check();
      if (samples.length !== frameSamples) throw new RangeError(`a frame has ${frameSamples} samples`);
      const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / frameSamples;
      return Math.min(1, Math.sqrt(power) / (2 * SPEECH_RMS));
    },
    reset: check,
    close() {
      isOpen = false;
    },
  };
}
