import { invalidField } from '../../shared/errors.ts';
import type { Clock } from '../../shared/time.ts';
import type { AudioEncoders, AudioEncoding } from '../codec/audio-encoding.ts';
import type { SpokenWord, TtsEngine } from '../tts/tts-engine.ts';
import type { SpeechPiece } from './speech-splitter.ts';
import type { SpokenAudio, SpokenChunk } from './spoken-audio.ts';
import type { SpeakingVoice, TtsRequest } from './tts-request.ts';

export interface SpeakerDeps {
  /** The engine behind a model, which keeps what it spoke before. */
  readonly tts: Pick<TtsEngine, 'synthesize'>;
  readonly encoders: Pick<AudioEncoders, 'open'>;
  readonly clock: Clock;
}

/** What a request has cost so far. */
export interface SpeakerFigures {
  readonly textBytes: number;
  readonly audioMs: number;
  readonly encodedBytes: number;
  /** From asking the engine to its first audio, for the first piece; null before. */
  readonly engineFirstAudioMs: number | null;
  /** Time spent waiting for the engine, in ms. */
  readonly engineMs: number;
}

/** Takes the audio; resolves when there is room for more. */
export type Emit = (audio: SpokenAudio) => Promise<void>;

/** Speaks the pieces of one request, one after the other, as one stream of encoded audio. */
export class Speaker {
  readonly #deps: SpeakerDeps;
  readonly #request: Omit<TtsRequest, 'text'>;
  readonly #encoding: AudioEncoding;
  #pieces = 0;
  #offsetMs = 0;
  #last: SpokenChunk = { seq: 0, text: '', offsetMs: 0, durationMs: 0, words: [] };
  #textBytes = 0;
  #encodedBytes = 0;
  #engineFirstAudioMs: number | null = null;
  #engineMs = 0;

  constructor(deps: SpeakerDeps, request: Omit<TtsRequest, 'text'>) {
    this.#deps = deps;
    this.#request = request;
    this.#encoding = deps.encoders.open({ format: request.format, level: request.level });
  }

  get figures(): SpeakerFigures {
    return {
      textBytes: this.#textBytes,
      audioMs: this.#offsetMs,
      encodedBytes: this.#encodedBytes,
      engineFirstAudioMs: this.#engineFirstAudioMs,
      engineMs: this.#engineMs,
    };
  }

  /** Speaks one piece. Ends early, without an error, when `signal` aborts. Throws what the engine throws. */
  async speak(piece: SpeechPiece, signal: AbortSignal, emit: Emit): Promise<void> {
    const voice = voiceOf(piece, this.#request.voices);
    const { clock, tts } = this.#deps;
    this.#textBytes += Buffer.byteLength(piece.text);
    const seq = this.#pieces++;
    const words: SpokenWord[] = [];
    const offsetMs = this.#offsetMs;
    let durationMs = 0;
    let askedMs = clock.monotonicMs();
    const startedMs = askedMs;
    const spoken = tts.synthesize({ text: piece.text, ...voice, speed: this.#request.speed }, signal);
    for await (const part of spoken) {
      this.#engineMs += clock.monotonicMs() - askedMs;
      if (part.type === 'words') words.push(...part.words);
      else {
        this.#engineFirstAudioMs ??= clock.monotonicMs() - startedMs;
        for (const samples of slices(part.samples, part.sampleRateHz, durationMs === 0)) {
          durationMs += (samples.length * 1000) / part.sampleRateHz;
          const bytes = await this.#encoding.push(samples, part.sampleRateHz);
          this.#offsetMs = offsetMs + durationMs;
          this.#last = { seq, text: piece.text, offsetMs, durationMs, words: [...words] };
          await this.#give(bytes, emit);
          if (signal.aborted) return;
        }
      }
      askedMs = clock.monotonicMs();
    }
  }

  /** Brings out what the codec holds back, so that the listener hears the last piece to its end. */
  async settle(emit: Emit): Promise<void> {
    await this.#give(await this.#encoding.settle(), emit);
  }

  async finish(emit: Emit): Promise<void> {
    await this.#give(await this.#encoding.finish(), emit);
  }

  /** Frees the encoder. Safe to call twice. */
  close(): void {
    this.#encoding.close();
  }

  async #give(bytes: Uint8Array, emit: Emit): Promise<void> {
    if (bytes.length === 0) return;
    this.#encodedBytes += bytes.length;
    await emit({ bytes, chunk: this.#last });
  }
}

/** The first slice is soon encoded, so that it is soon heard; none holds up the other streams for long. */
const FIRST_SLICE_MS = 60;
const SLICE_MS = 200;

/** Pieces with buffers of their own. */
function* slices(samples: Int16Array, sampleRateHz: number, isBeginning: boolean): Generator<Int16Array> {
  let ms = isBeginning ? FIRST_SLICE_MS : SLICE_MS;
  for (let at = 0; at < samples.length; ) {
    const length = Math.round((sampleRateHz * ms) / 1000);
    yield samples.slice(at, at + length);
    at += length;
    ms = SLICE_MS;
  }
}

/** One voice speaks for every speaker; of several, each has its number. Throws `Failure` 422 for a number without a voice. */
export function voiceOf(piece: SpeechPiece, voices: readonly SpeakingVoice[]): SpeakingVoice {
  const voice = voices.length === 1 ? voices[0] : voices[piece.speaker];
  if (!voice) throw invalidField(['body', 'text'], `speaker ${piece.speaker} has no entry in reference_id`);
  return voice;
}
