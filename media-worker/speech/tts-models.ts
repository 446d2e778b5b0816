/** Names of synthesis models that callers may send. */
export const TTS_MODELS = ['s1', 's2-pro', 's2.1-pro', 's2.1-pro-free'] as const;
export type TtsModel = (typeof TTS_MODELS)[number];

const DEFAULT_MODEL: TtsModel = 's2.1-pro';

/** The model of the `model` header. A missing or unknown name is never an error: it means the default. */
export function ttsModel(header: string | undefined): TtsModel {
  return TTS_MODELS.find((name) => name === header?.trim()) ?? DEFAULT_MODEL;
}

/** Speech of this model costs nothing and is spoken without credit, too. */
export function isFreeModel(model: TtsModel): boolean {
  return model === 's2.1-pro-free';
}

/** Whether the model speaks with several voices in one request. */
export function isMultiSpeakerModel(model: TtsModel): boolean {
  return model !== 's1';
}
