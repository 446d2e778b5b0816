/** How speech is written down for a caller. All of it is mono, 16 bit. */
export type AudioFormat =
  | { readonly codec: 'wav' | 'pcm'; readonly sampleRateHz: number }
  | { readonly codec: 'mp3'; readonly sampleRateHz: number; readonly bitrateKbps: 64 | 128 | 192 }
  | {
      readonly codec: 'opus';
      readonly sampleRateHz: 48_000;
      /** Null leaves it to the encoder. */
      readonly bitrateBps: number | null;
    };

export type AudioCodec = AudioFormat['codec'];

/** The media type of each codec's bytes. */
export const CONTENT_TYPES: Readonly<Record<AudioCodec, string>> = {
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
};
