import { Failure } from '../../../../shared/errors.ts';
import { LANGUAGES } from '../../../../shared/language.ts';
import type { OutgoingClient, OutgoingStream } from '../../../../shared/outgoing/outgoing-client.ts';
import type { Clock } from '../../../../shared/time.ts';
import { estimateWordTimes } from '../../estimate-word-times.ts';
import { refuseUnspeakable } from '../../speech-request.ts';
import type { SpeechChunk, SpeechRequest, SpokenWord, TtsEngine } from '../../tts-engine.ts';
import { PcmReader } from './pcm-reader.ts';

/** What `response_format: pcm` means in the OpenAI API. */
const PCM_RATE_HZ = 24_000;
const MAX_AUDIO_BYTES = 32 * 1024 * 1024;
/** A voice's own pace is learned from its sentences; each counts this much. */
const PACE_WEIGHT = 0.3;

export interface OpenAiTtsDeps {
  readonly http: Pick<OutgoingClient, 'stream' | 'request'>;
  readonly clock: Clock;
}

export interface OpenAiTtsSettings {
  /** Ends before `/audio/speech`, usually with `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  /** For requests without a voice. */
  readonly voice: string;
  /** ISO 639-1 languages the model speaks; all of the product's by default. */
  readonly languages?: readonly string[];
  /** Until the first byte of audio; 5000 by default. */
  readonly firstByteDeadlineMs?: number;
  /** Longest wait between two pieces of audio; 5000 by default. */
  readonly gapDeadlineMs?: number;
}

/**
 * Any service with OpenAI's `POST /audio/speech`, streamed as PCM. Word times are estimates, stretched to the pace
 * that the voice has had so far.
 */
export class OpenAiTts implements TtsEngine {
  readonly name = 'openai';
  readonly #deps: OpenAiTtsDeps;
  readonly #settings: OpenAiTtsSettings;
  readonly #baseUrl: string;
  readonly #paceOfVoice = new Map<string, number>();

  constructor(deps: OpenAiTtsDeps, settings: OpenAiTtsSettings) {
    this.#deps = deps;
    this.#settings = settings;
    this.#baseUrl = settings.baseUrl.replace(/\/+$/, '');
  }

  speaks(language: string): boolean {
    return (this.#settings.languages ?? LANGUAGES).includes(language);
  }

  async *synthesize(request: SpeechRequest, signal: AbortSignal): AsyncIterable<SpeechChunk> {
    refuseUnspeakable(this, request);
    if (signal.aborted) return;
    const stop = new AbortController();
    const leave = () => stop.abort();
    signal.addEventListener('abort', leave, { once: true });
    try {
      yield* this.#speak(request, stop);
    } catch (cause) {
      if (signal.aborted) return;
      throw cause instanceof Failure
        ? cause
        : new Failure('upstream_failed', 'The speech service failed', { cause });
    } finally {
      signal.removeEventListener('abort', leave);
      stop.abort();
    }
  }

  /** Opens the connection. Never throws: a service that is down is told by the first sentence. */
  async prewarm(): Promise<void> {
    await this.#deps.http
      .request({
        url: `${this.#baseUrl}/models`,
        method: 'GET',
        headers: this.#headers(),
        deadlineMs: 3_000,
        maxBytes: 1024 * 1024,
      })
      .catch(() => null);
  }

  async close(): Promise<void> {}

  async *#speak(request: SpeechRequest, stop: AbortController): AsyncGenerator<SpeechChunk> {
    const hasBegun = new AbortController();
    const deadlineMs = this.#settings.firstByteDeadlineMs ?? 5_000;
    void this.#deps.clock
      .sleep(deadlineMs, hasBegun.signal)
      .then(() => hasBegun.signal.aborted || stop.abort());
    let stream: OutgoingStream | null = null;
    try {
      stream = await this.#open(request, deadlineMs, stop.signal);
      if (stream.status !== 200)
        throw new Failure('upstream_failed', `The speech service answered ${stream.status}`);
      yield* this.#readSpeech(request, stream.body, () => hasBegun.abort(), stop.signal);
    } finally {
      hasBegun.abort();
      stream?.close();
    }
  }

  #open(request: SpeechRequest, deadlineMs: number, signal: AbortSignal): Promise<OutgoingStream> {
    const { model, voice, gapDeadlineMs } = this.#settings;
    return this.#deps.http.stream({
      url: `${this.#baseUrl}/audio/speech`,
      method: 'POST',
      headers: { ...this.#headers(), 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        voice: request.voice ?? voice,
        input: request.text,
        response_format: 'pcm',
        ...(request.speed === 1 ? {} : { speed: request.speed }),
      }),
      deadlineMs,
      idleMs: gapDeadlineMs ?? 5_000,
      maxBytes: MAX_AUDIO_BYTES,
      signal,
    });
  }

  async *#readSpeech(
    request: SpeechRequest,
    body: AsyncIterable<Uint8Array>,
    onFirstByte: () => void,
    signal: AbortSignal,
  ): AsyncGenerator<SpeechChunk> {
    const voice = request.voice ?? this.#settings.voice;
    const pace = this.#paceOfVoice.get(voice) ?? 1;
    let pending = estimateWordTimes(request.text, request.language, pace / request.speed);
    const estimatedMs = pending.at(-1)?.endMs ?? 0;
    const pcm = new PcmReader(PCM_RATE_HZ);
    let totalMs = 0;
    for await (const bytes of body) {
      onFirstByte();
      if (signal.aborted) return;
      const samples = pcm.push(bytes);
      if (samples.length === 0) continue;
      totalMs += (samples.length * 1000) / pcm.sampleRateHz;
      const words = pending.filter((word) => word.startMs < totalMs);
      pending = pending.slice(words.length);
      if (words.length > 0) yield { type: 'words', words };
      yield { type: 'audio', samples, sampleRateHz: pcm.sampleRateHz };
    }
    if (!pcm.hasSpeech) throw new Failure('upstream_failed', 'The speech service sent no speech');
    if (pending.length > 0) yield { type: 'words', words: pending.map((word) => endingAt(word, totalMs)) };
    if (estimatedMs > 0) this.#learnPace(voice, pace, (pace * totalMs) / estimatedMs);
  }

  #learnPace(voice: string, before: number, measured: number): void {
    const pace = before + (Math.min(2, Math.max(0.5, measured)) - before) * PACE_WEIGHT;
    this.#paceOfVoice.set(voice, pace);
  }

  #headers(): Record<string, string> {
    const { apiKey } = this.#settings;
    return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  }
}

/** A word that was estimated later than the audio lasted is heard with its end. */
function endingAt(word: SpokenWord, totalMs: number): SpokenWord {
  return { ...word, startMs: totalMs, endMs: totalMs };
}
