import { Failure } from '../../../shared/errors.ts';
import { LANGUAGES } from '../../../shared/language.ts';
import { readEventData } from '../../../shared/outgoing/event-stream.ts';
import type { OutgoingClient } from '../../../shared/outgoing/outgoing-client.ts';
import { type AudioFrame, durationMs } from '../../frame.ts';
import type { AsrEngine, AsrSession, AsrSessionOptions, Transcript } from '../asr-engine.ts';
import { framesUntil } from '../frames-until.ts';
import { multipartForm } from './multipart-form.ts';
import { wavFile } from './wav-file.ts';

const RATE_HZ = 16_000;
/** What a caller says past this is not sent. */
const MAX_UTTERANCE_MS = 120_000;
/** The services refuse less, and nobody says anything in it. */
const MIN_UTTERANCE_MS = 100;
const MAX_ANSWER_BYTES = 256 * 1024;
/** The services read about 200 words of hint. */
const MAX_HINT_CHARS = 800;

export interface OpenAiAsrDeps {
  readonly http: Pick<OutgoingClient, 'request' | 'stream'>;
}

export interface OpenAiAsrSettings {
  /** Ends before `/audio/transcriptions`, usually with `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  /** Asks for `stream=true` and gives the text as it comes; false by default, not every service knows it. */
  readonly streams?: boolean;
  /** ISO 639-1 languages the model understands; all of the product's by default. */
  readonly languages?: readonly string[];
  /** From the end of the utterance to its final text; 10000 by default. */
  readonly finalDeadlineMs?: number;
}

interface Utterance {
  readonly pieces: Int16Array[];
  startMs: number;
  /** End of the audio that is sent. */
  endMs: number;
  sentMs: number;
}

/** Any service with OpenAI's `POST /audio/transcriptions`. An utterance is sent when it has ended. */
export class OpenAiAsr implements AsrEngine {
  readonly name = 'openai';
  readonly sampleRateHz = RATE_HZ;
  /** The service hears an utterance after its end only, so no text comes while the caller speaks. */
  readonly hasPartials = false;
  readonly #deps: OpenAiAsrDeps;
  readonly #settings: OpenAiAsrSettings;
  readonly #baseUrl: string;

  constructor(deps: OpenAiAsrDeps, settings: OpenAiAsrSettings) {
    this.#deps = deps;
    this.#settings = settings;
    this.#baseUrl = settings.baseUrl.replace(/\/+$/, '');
  }

  understands(language: string): boolean {
    return (this.#settings.languages ?? LANGUAGES).includes(language);
  }

  async open(options: AsrSessionOptions): Promise<AsrSession> {
    const closed = new AbortController();
    return {
      transcribe: (audio, signal) =>
        this.#transcribe(audio, options, AbortSignal.any([signal, closed.signal])),
      close: async () => closed.abort(),
    };
  }

  async close(): Promise<void> {}

  async *#transcribe(
    audio: AsyncIterable<AudioFrame>,
    options: AsrSessionOptions,
    signal: AbortSignal,
  ): AsyncIterable<Transcript> {
    const utterance = await collect(audio, signal);
    if (signal.aborted) return;
    const left = new AbortController();
    const stop = AbortSignal.any([signal, left.signal]);
    let text = '';
    try {
      if (utterance.sentMs >= MIN_UTTERANCE_MS) {
        for await (text of this.#ask(utterance, options, stop)) {
          if (stop.aborted) return;
          if (this.#settings.streams) yield toTranscript(text, utterance, false);
        }
      }
      if (!stop.aborted) yield toTranscript(text, utterance, true);
    } catch (cause) {
      if (signal.aborted) return;
      throw cause instanceof Failure
        ? cause
        : new Failure('upstream_failed', 'The recognition service failed', { cause });
    } finally {
      left.abort();
    }
  }

  /** The text, longer each time. */
  async *#ask(
    utterance: Utterance,
    { language, keyterms }: AsrSessionOptions,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    const { apiKey, model, streams, finalDeadlineMs } = this.#settings;
    const hint = keyterms.join(', ').slice(0, MAX_HINT_CHARS);
    const form = multipartForm(
      {
        model,
        language,
        response_format: 'json',
        ...(hint === '' ? {} : { prompt: hint }),
        ...(streams ? { stream: 'true' } : {}),
      },
      {
        field: 'file',
        name: 'audio.wav',
        type: 'audio/wav',
        bytes: wavFile(utterance.pieces, RATE_HZ),
      },
    );
    const request = {
      url: `${this.#baseUrl}/audio/transcriptions`,
      method: 'POST' as const,
      headers: {
        'content-type': form.contentType,
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: form.body,
      deadlineMs: finalDeadlineMs ?? 10_000,
      maxBytes: MAX_ANSWER_BYTES,
      signal,
    };
    if (streams) yield* this.#readStream(request);
    else {
      const { status, body } = await this.#deps.http.request(request);
      yield readText(status, body.toString('utf8'));
    }
  }

  async *#readStream(request: Parameters<OutgoingClient['request']>[0]): AsyncGenerator<string> {
    const stream = await this.#deps.http.stream({ ...request, idleMs: request.deadlineMs });
    try {
      // A service that doesn't know `stream` answers the usual JSON.
      if (stream.status !== 200 || !stream.headers['content-type']?.startsWith('text/event-stream')) {
        const pieces: Uint8Array[] = [];
        for await (const piece of stream.body) pieces.push(piece);
        yield readText(stream.status, Buffer.concat(pieces).toString('utf8'));
        return;
      }
      let text = '';
      for await (const data of readEventData(stream.body)) {
        const event = asRecord(data);
        if (event['type'] === 'transcript.text.delta' && typeof event['delta'] === 'string') {
          text += event['delta'];
          yield text.trim();
        }
        if (event['type'] === 'transcript.text.done' && typeof event['text'] === 'string') {
          yield event['text'].trim();
          return;
        }
      }
      throw new Failure('upstream_failed', 'The recognition service broke off its answer');
    } finally {
      stream.close();
    }
  }
}

async function collect(audio: AsyncIterable<AudioFrame>, signal: AbortSignal): Promise<Utterance> {
  const utterance: Utterance = { pieces: [], startMs: 0, endMs: 0, sentMs: 0 };
  for await (const frame of framesUntil(audio, signal)) {
    if (frame.sampleRateHz !== RATE_HZ) throw new Error(`audio at ${frame.sampleRateHz} Hz`);
    if (utterance.pieces.length === 0) utterance.startMs = frame.startMs;
    if (utterance.sentMs >= MAX_UTTERANCE_MS) continue;
    utterance.pieces.push(frame.samples);
    utterance.sentMs += durationMs(frame);
    utterance.endMs = frame.startMs + durationMs(frame);
  }
  return utterance;
}

function readText(status: number, body: string): string {
  if (status !== 200) throw new Failure('upstream_failed', `The recognition service answered ${status}`);
  const { text } = asRecord(body);
  if (typeof text !== 'string')
    throw new Failure('upstream_failed', 'The recognition service answered without a text');
  return text.trim();
}

function asRecord(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function toTranscript(text: string, { startMs, endMs }: Utterance, isFinal: boolean): Transcript {
  return { text, isFinal, startMs, endMs, confidence: null };
}
