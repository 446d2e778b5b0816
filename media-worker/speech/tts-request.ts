import { Failure, invalidField } from '../../shared/errors.ts';
import type { AudioFormat } from '../codec/audio-format.ts';
import type { LevelOptions } from '../codec/level.ts';
import { outputFormat } from './output-format.ts';
import { isMultiSpeakerModel, type TtsModel } from './tts-models.ts';
import type { TtsBody } from './tts-schema.ts';

/** A voice as engines take it. */
export interface SpeakingVoice {
  /** A voice id of the catalogue, a name of the configured service, or null for the default. */
  readonly voice: string | null;
  /** ISO 639-1. */
  readonly language: string;
}

/** What a synthesis request comes down to. */
export interface TtsRequest {
  readonly text: string;
  readonly model: TtsModel;
  /** By speaker number of the text; one voice speaks everything. Never empty. */
  readonly voices: readonly SpeakingVoice[];
  readonly format: AudioFormat;
  readonly level: LevelOptions;
  readonly speed: number;
  /** Longest piece of text that is spoken at once, in characters. */
  readonly chunkCharacters: number;
  /** Shorter sentences are put together with the next one. */
  readonly minChunkCharacters: number;
  /** The first clause is spoken before its sentence is complete. */
  readonly startsWithClause: boolean;
}

/** Finds the voice that a `reference_id` names for this workspace; null when there is none. */
export type ResolveVoice = (referenceId: string, workspaceId: string) => Promise<SpeakingVoice | null>;

const DEFAULT_VOICE: SpeakingVoice = { voice: null, language: 'en' };

/**
 * Reads a checked body. Throws `Failure`: 400 for a rate or a reference that doesn't exist, 422 for what the model
 * can't do.
 */
export async function readTtsRequest(
  body: TtsBody,
  model: TtsModel,
  workspaceId: string,
  resolveVoice: ResolveVoice,
): Promise<TtsRequest> {
  const format = outputFormat(body);
  const { prosody = {} } = body;
  return {
    text: body.text,
    model,
    voices: await voicesOf(body, model, workspaceId, resolveVoice),
    format,
    level: {
      volumeDb: prosody.volume ?? 0,
      normalizes: model !== 's1' && (prosody.normalize_loudness ?? true),
    },
    speed: prosody.speed ?? 1,
    chunkCharacters: body.chunk_length ?? 300,
    minChunkCharacters: body.min_chunk_length ?? 50,
    startsWithClause: (body.latency ?? 'normal') !== 'normal',
  };
}

async function voicesOf(
  body: TtsBody,
  model: TtsModel,
  workspaceId: string,
  resolveVoice: ResolveVoice,
): Promise<SpeakingVoice[]> {
  const given = body.reference_id ?? [];
  if (Array.isArray(given) && given.length > 1 && !isMultiSpeakerModel(model))
    throw invalidField(['body', 'reference_id'], `the model ${model} speaks with one voice at a time`);
  const references = [given].flat().filter((id) => id !== '');
  if (references.length === 0 && (body.references?.length ?? 0) > 0)
    throw invalidField(
      ['body', 'references'],
      'no configured engine can clone a voice; name one with reference_id',
    );
  const voices = await Promise.all(
    references.map(async (id) => {
      const voice = await resolveVoice(id, workspaceId);
      if (!voice) throw new Failure('bad_request', 'Reference not found');
      return voice;
    }),
  );
  return voices.length === 0 ? [DEFAULT_VOICE] : voices;
}
