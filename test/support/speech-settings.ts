import type { SpeechSettings } from '../../media-worker/speech/speech-settings.ts';

/** The defaults of the settings, but every phrase is asked of the engine. */
export const SPEECH_SETTINGS: SpeechSettings = {
  maxTextCharacters: 20_000,
  maxInFlight: 15,
  liveIdleMs: 300_000,
  phraseCacheBytes: 0,
  maxUploadBytes: 20_000_000,
  maxUploadS: 3_600,
  recognitionsAtOnce: 2,
  ffmpeg: 'ffmpeg',
};
