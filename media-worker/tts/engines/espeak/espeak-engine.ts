import { createRequire } from 'node:module';
import { Failure } from '../../../../shared/errors.ts';
import { JobQueue } from '../../job-queue.ts';
import { sliceAudio } from '../../slice-audio.ts';
import { refuseUnspeakable } from '../../speech-request.ts';
import { trimSilence } from '../../trim-silence.ts';
import type { SpeechChunk, SpeechRequest, TtsEngine } from '../../tts-engine.ts';
import { EspeakProcess, type EspeakProcessDeps, type EspeakSpeech } from './espeak-process.ts';
import type { EspeakJob } from './espeak-protocol.ts';
import { tokenTimes } from './token-times.ts';

const PACKAGE = '@echogarden/espeak-ng-emscripten';
/** espeak-ng's own pace. */
const WORDS_PER_MINUTE = 175;
const MAX_WAITING_SENTENCES = 64;
const SILENCE = { leadMs: 30, tailMs: 150 };

/** ISO 639-1 to espeak-ng's voice. */
const VOICES: Readonly<Record<string, string>> = {
  en: 'en-us',
  ja: 'ja',
  zh: 'cmn',
  ko: 'ko',
  es: 'es',
  fr: 'fr',
  de: 'de',
  pt: 'pt',
  it: 'it',
  nl: 'nl',
};

export interface EspeakEngineDeps extends EspeakProcessDeps {
  readonly isInstalled?: () => boolean;
}

/**
 * Formant voices for ten languages: espeak-ng in a separate process, 22.05 kHz, with the times of its word
 * events. Of Japanese it reads kana only: a kanji is spoken as the English words "Chinese letter". In languages
 * written without spaces a word is what stands between two spaces, so often a whole clause. Without the optional
 * package it speaks no language.
 */
export class EspeakEngine implements TtsEngine {
  readonly name = 'espeak';
  readonly #process: EspeakProcess;
  readonly #queue: JobQueue<EspeakJob, EspeakSpeech>;
  readonly #isInstalled: boolean;

  constructor(deps: EspeakEngineDeps) {
    this.#isInstalled = (deps.isInstalled ?? isPackageInstalled)();
    this.#process = new EspeakProcess(deps);
    this.#queue = new JobQueue(MAX_WAITING_SENTENCES, (job) => this.#process.speak(job));
  }

  speaks(language: string): boolean {
    return this.#isInstalled && Object.hasOwn(VOICES, language);
  }

  async *synthesize(request: SpeechRequest, signal: AbortSignal): AsyncIterable<SpeechChunk> {
    if (!this.#isInstalled)
      throw new Failure(
        'unprocessable',
        `No voice for ${request.language}: the package ${PACKAGE} is not installed`,
      );
    refuseUnspeakable(this, request);
    const text = espeakText(request.text);
    const speech = await this.#queue.run(
      {
        text,
        voice: request.voice ?? VOICES[request.language] ?? '',
        wordsPerMinute: Math.round(WORDS_PER_MINUTE * request.speed),
      },
      signal,
    );
    if (!speech || signal.aborted) return;
    const { sampleRateHz } = speech;
    const trimmed = trimSilence(speech.samples, sampleRateHz, SILENCE);
    if (!trimmed) throw new Failure('upstream_failed', 'The voice for this language spoke nothing');
    const totalMs = (trimmed.samples.length * 1000) / sampleRateHz;
    const moments = speech.moments.map(({ position, atMs }) => ({
      position,
      atMs: Math.max(0, atMs - trimmed.cutMs),
    }));
    const tokens = request.text.split(/\s+/).filter((token) => token !== '');
    const words = tokenTimes(text, moments, totalMs).map((word, i) => ({
      ...word,
      text: tokens[i] ?? word.text,
    }));
    yield { type: 'words', words };
    for (const samples of sliceAudio(trimmed.samples, sampleRateHz)) {
      if (signal.aborted) return;
      yield { type: 'audio', samples, sampleRateHz };
    }
  }

  async prewarm(): Promise<void> {
    if (this.#isInstalled) await this.#process.start();
  }

  async close(): Promise<void> {
    this.#queue.close();
    await this.#process.close();
  }
}

function isPackageInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(PACKAGE);
    return true;
  } catch {
    return false;
  }
}

/**
 * The same tokens, with what espeak-ng takes for markup or phoneme notation replaced, character by character, so
 * that its positions still hold. Characters outside the basic plane count as one for it and as two here.
 */
function espeakText(text: string): string {
  return text.replace(/[<>]|\[(?=\[)|\](?=\])/g, '·').replace(/[\u{10000}-\u{10ffff}]/gu, '··');
}
