/** Limits of the speech API. */
export interface SpeechSettings {
  /** Characters of one synthesis request; on a socket, of what waits to be spoken. */
  readonly maxTextCharacters: number;
  /** Requests of one workspace at once. */
  readonly maxInFlight: number;
  /** A realtime socket on which neither side said anything for so long is closed, in ms. */
  readonly liveIdleMs: number;
  readonly phraseCacheBytes: number;
  readonly maxUploadBytes: number;
  /** Longest audio that is recognised, in seconds. */
  readonly maxUploadS: number;
  /** Parts of one upload that are recognised at once. */
  readonly recognitionsAtOnce: number;
  /** Path or name of the program that decodes AAC. */
  readonly ffmpeg: string;
}
