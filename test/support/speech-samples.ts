import { readFileSync } from 'node:fs';
import { projectFile } from '../../shared/project-file.ts';

export const SPEECH_RATE_HZ = 16_000;
export const SPEECH_VOICES = ['slt', 'rms', 'awb', 'kal'] as const;
export type SpeechVoice = (typeof SPEECH_VOICES)[number];

/** What each recording in test/fixtures/speech says. */
export const SPEECH_TEXTS: Readonly<Record<SpeechVoice, string>> = {
  slt: 'I would like to book a table for four.',
  rms: 'When does the next train to the coast leave?',
  awb: 'My number is seven three nine.',
  kal: 'Yes, that sounds fine.',
};

/** About two seconds of one voice, mono PCM at 16 kHz. */
export function speechSample(voice: SpeechVoice): Int16Array {
  const wav = readFileSync(projectFile(`test/fixtures/speech/${voice}.wav`));
  const at = wav.indexOf('data') + 8;
  return new Int16Array(Uint8Array.from(wav.subarray(at)).buffer);
}

export function silence(ms: number, rateHz = SPEECH_RATE_HZ): Int16Array {
  return new Int16Array(Math.round((ms * rateHz) / 1000));
}

export function joined(...parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Louder or softer; what doesn't fit into 16 bits is cut off, as a bad microphone does. */
export function amplified(samples: Int16Array, gain: number): Int16Array {
  return Int16Array.from(samples, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}

/** Pieces of equal length, a shorter one at the end. */
export function pieces(samples: Int16Array, length: number): Int16Array[] {
  const cut: Int16Array[] = [];
  for (let at = 0; at < samples.length; at += length) cut.push(samples.slice(at, at + length));
  return cut;
}
