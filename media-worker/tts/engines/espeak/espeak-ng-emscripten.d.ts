declare module '@echogarden/espeak-ng-emscripten' {
  export interface EspeakEvent {
    /** Ms from the start of the audio. */
    readonly audio_position: number;
    readonly type: string;
    /** In characters, the first is 1. */
    readonly text_position: number;
  }

  export interface EspeakWorker {
    set_voice(name: string): void;
    /** Words per minute. */
    set_rate(rate: number): void;
    /** Calls back about every 100 ms of audio; the samples are valid only within the call. */
    synthesize(text: string, callback: (samples: Int16Array | null, events: EspeakEvent[]) => boolean): void;
  }

  const load: () => Promise<{ eSpeakNGWorker: new () => EspeakWorker }>;

  // biome-ignore lint/style/noDefaultExport: it is how the package exports it.
  export { load as default };
}
