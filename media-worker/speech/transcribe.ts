import { Failure, invalidField } from '../../shared/errors.ts';
import { LANGUAGES } from '../../shared/language.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { TraceContext } from '../../shared/trace-context.ts';
import type { AsrEngine, AsrSession } from '../asr/asr-engine.ts';
import { UPLOAD_RATE_HZ, type UploadDecoder } from '../codec/upload/upload-decoder.ts';
import type { AudioFrame } from '../frame.ts';
import type { VadEngine } from '../vad/vad-engine.ts';
import type { SpeechCaller } from './speech-admission.ts';
import type { SpeechMetrics } from './speech-metrics.ts';
import type { UsageReporter } from './usage-reporter.ts';
import { type Utterance, UtteranceCutter } from './utterance-cutter.ts';

/** What was said in a recording. Times in seconds. */
export interface Transcription {
  readonly text: string;
  readonly duration: number;
  readonly segments: readonly { readonly text: string; readonly start: number; readonly end: number }[];
  readonly language_code: string | null;
  readonly language: string | null;
}

export interface TranscribeDeps {
  readonly asr: AsrEngine;
  readonly vad: VadEngine;
  readonly decoder: Pick<UploadDecoder, 'decode'>;
  /** Parts of one recording that are recognised at once. */
  readonly recognitionsAtOnce: number;
  readonly usage: Pick<UsageReporter, 'add'>;
  readonly metrics: SpeechMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface TranscribeCall {
  /** Taken over. */
  readonly file: Uint8Array;
  /** ISO 639-1, what the caller expects; null for no idea. */
  readonly language: string | null;
  readonly caller: SpeechCaller;
  readonly trace: TraceContext;
  readonly signal: AbortSignal;
}

const MODEL = 'transcribe-1';
const MIN_DURATION_MS = 1_000;
const FRAME_MS = 100;
/** Written without spaces between sentences. */
const UNSPACED = ['ja', 'zh'];

interface Heard {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Recognises whole recordings: cut where they pause, a few parts at once, never more in memory than those. */
export function createTranscription(deps: TranscribeDeps) {
  const { asr, metrics, clock, log } = deps;

  /** Throws `Failure`: 415, 422, 502, 503. */
  async function transcribe(call: TranscribeCall): Promise<Transcription> {
    const language = chooseLanguage(asr, call.language);
    const startedMs = clock.monotonicMs();
    const fileBytes = call.file.byteLength;
    const stop = new AbortController();
    const leave = () => stop.abort();
    call.signal.addEventListener('abort', leave, { once: true });
    if (call.signal.aborted) leave();
    const recording = new Recording(deps, call.file, stop.signal);
    try {
      const heard = await recognise(recording, language, stop.signal);
      if (recording.durationMs < MIN_DURATION_MS)
        throw invalidField(['body', 'audio'], 'audio is shorter than 1 second');
      const durationS = recording.durationMs / 1000;
      const { workspaceId } = call.caller;
      deps.usage.add({ workspaceId, kind: 'asr', model: MODEL, quantity: Math.ceil(durationS) });
      const workMs = clock.monotonicMs() - startedMs;
      metrics.processed('asr', recording.durationMs, workMs, fileBytes);
      metrics.ended('asr', 'done');
      log.info(
        { durationS, workMs, parts: heard.length, trace_id: call.trace.traceId },
        'recording recognised',
      );
      return toTranscription(
        heard,
        durationS,
        language,
        call.language !== null || isOnlyLanguage(asr, language),
      );
    } catch (error) {
      const isRefusal = error instanceof Failure && error.status < 500;
      metrics.ended('asr', call.signal.aborted ? 'cancelled' : isRefusal ? 'refused' : 'failed');
      throw error;
    } finally {
      call.signal.removeEventListener('abort', leave);
      stop.abort();
      await recording.close();
    }
  }

  /** All parts of the recording, in order. */
  async function recognise(recording: Recording, language: string, signal: AbortSignal): Promise<Heard[]> {
    const heard: Heard[] = [];
    const parts = recording.utterances();
    const failed = new AbortController();
    const lane = async (session: AsrSession) => {
      try {
        for (let step = await parts.next(); !step.done; step = await parts.next()) {
          if (failed.signal.aborted) return;
          const text = await recogniseOne(session, step.value, AbortSignal.any([signal, failed.signal]));
          if (text !== '') heard.push({ text, startMs: step.value.startMs, endMs: step.value.endMs });
          log.debug(
            { untilS: Math.round(step.value.endMs / 1000), parts: heard.length },
            'part of a recording recognised',
          );
        }
      } catch (error) {
        failed.abort();
        throw error;
      }
    };
    const sessions = await openSessions(language);
    try {
      const outcomes = await Promise.allSettled(sessions.map(lane));
      const failure = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failure) throw failure.reason;
    } finally {
      await Promise.all(sessions.map((session) => session.close()));
    }
    if (signal.aborted) throw new Failure('bad_request', 'The client is gone');
    return heard.sort((a, b) => a.startMs - b.startMs);
  }

  /** At least one; fewer than wanted when the recognisers are busy with callers. */
  async function openSessions(language: string): Promise<AsrSession[]> {
    const options = { language, keyterms: [] };
    const sessions = [await asr.open(options)];
    while (sessions.length < deps.recognitionsAtOnce) {
      const another = await asr.open(options).catch(() => null);
      if (!another) break;
      sessions.push(another);
    }
    return sessions;
  }

  return { transcribe };
}
export type Transcribing = ReturnType<typeof createTranscription>;

/** The speech of an upload, decoded only as fast as it is recognised. */
class Recording {
  readonly #deps: TranscribeDeps;
  readonly #audio: AsyncGenerator<Int16Array>;
  readonly #cutter: UtteranceCutter;
  readonly #signal: AbortSignal;
  #samples = 0;

  constructor(deps: TranscribeDeps, file: Uint8Array, signal: AbortSignal) {
    this.#deps = deps;
    this.#audio = deps.decoder.decode(file);
    this.#cutter = new UtteranceCutter(deps.vad);
    this.#signal = signal;
  }

  /** Of what has been decoded. */
  get durationMs(): number {
    return (this.#samples * 1000) / UPLOAD_RATE_HZ;
  }

  async *utterances(): AsyncGenerator<Utterance> {
    for await (const samples of this.#audio) {
      if (this.#signal.aborted) return;
      for (let at = 0; at < samples.length; at += UPLOAD_RATE_HZ) {
        this.#samples += Math.min(UPLOAD_RATE_HZ, samples.length - at);
        yield* this.#cutter.push(samples.subarray(at, at + UPLOAD_RATE_HZ));
        // Finding the speech of a second takes 2 ms; callers come first.
        await this.#deps.clock.sleep(0);
      }
    }
    yield* this.#cutter.flush();
  }

  async close(): Promise<void> {
    await this.#audio.return(undefined);
    this.#cutter.close();
  }
}

async function recogniseOne(session: AsrSession, utterance: Utterance, signal: AbortSignal): Promise<string> {
  let text = '';
  for await (const transcript of session.transcribe(framesOf(utterance), signal)) {
    if (transcript.isFinal) text = transcript.text.trim();
  }
  return text;
}

async function* framesOf({ samples, sampleRateHz, startMs }: Utterance): AsyncGenerator<AudioFrame> {
  const length = (sampleRateHz * FRAME_MS) / 1000;
  for (let at = 0; at < samples.length; at += length) {
    yield {
      samples: samples.slice(at, at + length),
      sampleRateHz,
      startMs: startMs + (at * 1000) / sampleRateHz,
    };
  }
}

/** What the caller expects, or what the recogniser understands best. Throws `Failure` 422 for a language it doesn't. */
function chooseLanguage(asr: AsrEngine, hint: string | null): string {
  const language = hint?.toLowerCase().split(/[-_]/)[0] ?? 'en';
  if (asr.understands(language)) return language;
  if (LANGUAGES.some((known) => asr.understands(known)))
    throw invalidField(['body', 'language'], `the recogniser does not understand ${language}`);
  // It understands nothing at all, and says itself why.
  return language;
}

function isOnlyLanguage(asr: AsrEngine, language: string): boolean {
  return LANGUAGES.every((other) => other === language || !asr.understands(other));
}

function toTranscription(
  heard: readonly Heard[],
  durationS: number,
  language: string,
  isKnown: boolean,
): Transcription {
  const end = Math.round(durationS * 1000) / 1000;
  return {
    text: heard.map(({ text }) => text).join(UNSPACED.includes(language) ? '' : ' '),
    duration: end,
    segments: heard.map(({ text, startMs, endMs }) => ({
      text,
      start: Math.round(startMs) / 1000,
      end: Math.min(end, Math.round(endMs) / 1000),
    })),
    language_code: isKnown ? language : null,
    language: isKnown ? (new Intl.DisplayNames(['en'], { type: 'language' }).of(language) ?? null) : null,
  };
}
