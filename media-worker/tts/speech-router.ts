import { Failure } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { SpeechChunk, SpeechRequest, TtsEngine } from './tts-engine.ts';
import { builtinVoice, readingLanguage, serviceVoice } from './voice-catalog.ts';

/** A configured service that failed so often in a row is left alone for a while. */
const FAILURES_TO_OPEN = 3;
const OPEN_MS = 30_000;

export interface SpeechRouterDeps {
  /** The built-in voices by the engine names of the catalogue. */
  readonly builtin: Readonly<Record<'flite' | 'espeak', TtsEngine>>;
  /** The configured service, asked first; null when there is none. */
  readonly service: TtsEngine | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The engine behind every voice id. `request.voice` is an id of the catalogue or a name of the configured service.
 * A service that fails before its first audio is replaced by the built-in voice for that sentence; after three
 * failures in a row it isn't asked for 30 s.
 */
export class SpeechRouter implements TtsEngine {
  readonly name = 'router';
  readonly #deps: SpeechRouterDeps;
  #failures = 0;
  #closedUntilMs = 0;

  constructor(deps: SpeechRouterDeps) {
    this.#deps = deps;
  }

  speaks(language: string): boolean {
    const { builtin, service } = this.#deps;
    return [service, builtin.flite, builtin.espeak].some((engine) => engine?.speaks(language));
  }

  async *synthesize(request: SpeechRequest, signal: AbortSignal): AsyncIterable<SpeechChunk> {
    const service = this.#usableService(request.language);
    if (service) {
      let hasBegun = false;
      try {
        for await (const chunk of audioFirst(service.synthesize(forService(request), signal))) {
          hasBegun = true;
          yield chunk;
        }
        this.#failures = 0;
        return;
      } catch (error) {
        this.#countFailure(error);
        // Half a sentence is not begun again in another voice.
        if (hasBegun || !this.#hasBuiltin(request)) throw error;
      }
    }
    if (!signal.aborted) yield* this.#speakBuiltin(request, signal);
  }

  async prewarm(language = 'en'): Promise<void> {
    const voice = builtinVoice(null, language);
    await Promise.all([voice && this.#deps.builtin[voice.engine].prewarm(), this.#deps.service?.prewarm()]);
  }

  async close(): Promise<void> {
    const { builtin, service } = this.#deps;
    await Promise.all([builtin.flite.close(), builtin.espeak.close(), service?.close()]);
  }

  #usableService(language: string): TtsEngine | null {
    const { service, clock } = this.#deps;
    if (!service?.speaks(language)) return null;
    const isOpen = this.#failures >= FAILURES_TO_OPEN && clock.monotonicMs() < this.#closedUntilMs;
    return isOpen && this.#hasBuiltinLanguage(language) ? null : service;
  }

  #hasBuiltin(request: SpeechRequest): boolean {
    return this.#hasBuiltinLanguage(readingLanguage(request.text, request.language));
  }

  #hasBuiltinLanguage(language: string): boolean {
    const voice = builtinVoice(null, language);
    return voice !== null && this.#deps.builtin[voice.engine].speaks(language);
  }

  #speakBuiltin(request: SpeechRequest, signal: AbortSignal): AsyncIterable<SpeechChunk> {
    const language = readingLanguage(request.text, request.language);
    const voice = builtinVoice(request.voice, language);
    if (!voice) throw new Failure('unprocessable', `There is no voice for the language ${language}`);
    const engine = this.#deps.builtin[voice.engine];
    return engine.synthesize({ ...request, language, voice: voice.engineVoice }, signal);
  }

  #countFailure(error: unknown): void {
    if (error instanceof Failure && error.kind === 'unprocessable') return;
    this.#failures++;
    this.#closedUntilMs = this.#deps.clock.monotonicMs() + OPEN_MS;
    this.#deps.log.warn({ err: error, failures: this.#failures }, 'speech service failed');
  }
}

function forService(request: SpeechRequest): SpeechRequest {
  return { ...request, voice: serviceVoice(request.voice) };
}

/** Holds words back until there is audio, so that a failure before it has given nothing away. */
async function* audioFirst(chunks: AsyncIterable<SpeechChunk>): AsyncGenerator<SpeechChunk> {
  const held: SpeechChunk[] = [];
  let hasAudio = false;
  for await (const chunk of chunks) {
    hasAudio ||= chunk.type === 'audio';
    held.push(chunk);
    if (hasAudio) yield* held.splice(0);
  }
  yield* held;
}
