import type { OpenResampler } from '../../media-worker/codec/resample.ts';
import { noise, withNoise } from './noise.ts';
import {
  amplified,
  joined,
  SPEECH_VOICES,
  type SpeechVoice,
  silence,
  speechSample,
} from './speech-samples.ts';

export const VAD_FRAME_SAMPLES = 512;

/** 6.4 s, 200 frames: speech, a pause, speech in noise, noise alone, soft speech. */
export function shortVadSignal(): Int16Array {
  const length = 200 * VAD_FRAME_SAMPLES;
  const signal = joined(
    speechSample('slt'),
    silence(300),
    withNoise(speechSample('awb'), 'pink', 10),
    noise('white', 12_800, 300),
    amplified(speechSample('kal'), 0.1),
  );
  return signal.slice(0, length);
}

/** Another speaker: the same words `ratio` times slower and deeper. */
export function respoken(open: OpenResampler, voice: SpeechVoice, ratio: number): Int16Array {
  const resampler = open(16_000, Math.round(16_000 * ratio));
  const slower = joined(resampler.push(speechSample(voice)), resampler.flush());
  resampler.close();
  return slower;
}

/** Ten minutes of speech, noise and silence at many levels; a third of the time each, mixed every few seconds. */
export function longVadSignal(open: OpenResampler): Int16Array {
  const minutes = 10;
  const parts: Int16Array[] = [];
  let made = 0;
  for (let round = 0; made < minutes * 60 * 16_000; round++) {
    const voice = SPEECH_VOICES[round % SPEECH_VOICES.length] ?? 'slt';
    const said = respoken(open, voice, 0.85 + 0.05 * (round % 7));
    const speech = amplified(said, [0.02, 0.2, 1, 3][round % 4] ?? 1);
    const pause = round % 3 === 0 ? silence(1_500) : noise('pink', 24_000, 30 * 4 ** (round % 5), round + 1);
    const hiss = noise('white', 16_000, 10 * 5 ** (round % 5), round + 1);
    const noisy = withNoise(speech, round % 2 === 0 ? 'pink' : 'white', 5 * (round % 5), round + 1);
    for (const part of [speech, pause, noisy, silence(500), hiss]) {
      parts.push(part);
      made += part.length;
    }
  }
  return joined(...parts).slice(0, minutes * 60 * 16_000);
}
