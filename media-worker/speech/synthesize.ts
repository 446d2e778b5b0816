import { Failure, invalidField } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import type { TraceContext } from '../../shared/trace-context.ts';
import { Handoff } from './handoff.ts';
import { Speaker, type SpeakerDeps, voiceOf } from './speaker.ts';
import type { SpeechAdmission, SpeechCaller, SpeechSlot } from './speech-admission.ts';
import type { SpeechMetrics } from './speech-metrics.ts';
import { type SpeechPiece, SpeechSplitter } from './speech-splitter.ts';
import type { SpokenAudio } from './spoken-audio.ts';
import { isFreeModel } from './tts-models.ts';
import type { TtsRequest } from './tts-request.ts';
import type { UsageReporter } from './usage-reporter.ts';

/** Audio made ahead of a slow reader, in pieces of at most 200 ms. */
const AHEAD_PIECES = 8;

export interface SynthesisDeps extends Omit<SpeakerDeps, 'tts'> {
  readonly ttsFor: (model: string) => SpeakerDeps['tts'];
  readonly admission: Pick<SpeechAdmission, 'enter'>;
  readonly usage: Pick<UsageReporter, 'add'>;
  readonly metrics: SpeechMetrics;
  readonly log: Logger;
}

export interface SynthesisCall {
  readonly request: TtsRequest;
  readonly caller: SpeechCaller;
  readonly surface: 'rest' | 'sse';
  readonly trace: TraceContext;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

/** Speaks whole texts. */
export function createSynthesis(deps: SynthesisDeps) {
  /**
   * Resolves with the audio when its first part is there, so that whatever fails before is still a reply of its
   * own. Throws `Failure`: 402, 422, 429, or what the engine says. Work goes on at most 1.6 s of audio ahead of the
   * reader and stops when it leaves or `signal` aborts.
   */
  async function speak(call: SynthesisCall): Promise<AsyncIterable<SpokenAudio>> {
    const { request, caller, signal } = call;
    const pieces = piecesOf(request);
    const slot = deps.admission.enter(caller, isFreeModel(request.model));
    const audio = new Handoff<SpokenAudio>(AHEAD_PIECES);
    const leave = () => audio.leave();
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    void run(call, pieces, slot, audio).finally(() => signal.removeEventListener('abort', leave));
    const parts = audio[Symbol.asyncIterator]();
    const first = await parts.next();
    if (first.done) throw new Failure('bad_request', 'The client is gone');
    return startingWith(first.value, parts);
  }

  /** Never rejects. */
  async function run(
    call: SynthesisCall,
    pieces: readonly SpeechPiece[],
    slot: SpeechSlot,
    audio: Handoff<SpokenAudio>,
  ): Promise<void> {
    const { request, caller, surface, trace } = call;
    const { clock, log, metrics } = deps;
    const startedMs = clock.monotonicMs();
    let speaker: Speaker | null = null;
    let firstAudioMs: number | null = null;
    const emit = (part: SpokenAudio) => {
      firstAudioMs ??= clock.monotonicMs() - startedMs;
      return audio.push(part);
    };
    try {
      speaker = new Speaker({ ...deps, tts: deps.ttsFor(request.model) }, request);
      for (const piece of pieces) {
        if (!audio.gone.aborted) await speaker.speak(piece, audio.gone, emit);
      }
      if (!audio.gone.aborted) await speaker.finish(emit);
      audio.end();
      metrics.ended(surface, audio.gone.aborted ? 'cancelled' : 'done');
    } catch (error) {
      audio.fail(error);
      metrics.ended(surface, error instanceof Failure && error.status < 500 ? 'refused' : 'failed');
    } finally {
      slot.release();
      speaker?.close();
    }
    if (!speaker) return;
    const { figures } = speaker;
    if (firstAudioMs !== null) {
      metrics.firstAudio(surface, firstAudioMs, figures.engineFirstAudioMs ?? 0);
      deps.usage.add({
        workspaceId: caller.workspaceId,
        kind: 'tts',
        model: request.model,
        quantity: figures.textBytes,
      });
    }
    metrics.processed(surface, figures.audioMs, figures.engineMs, figures.encodedBytes);
    log.debug({ surface, trace_id: trace.traceId, firstAudioMs, ...figures }, 'speech request done');
  }

  return { speak };
}
export type Synthesis = ReturnType<typeof createSynthesis>;

/** Everything is there at once, so everything that is wrong with it is found before anything is spent. */
function piecesOf(request: TtsRequest): readonly SpeechPiece[] {
  const splitter = new SpeechSplitter(request);
  const pieces = [...splitter.push(request.text), ...splitter.flush()];
  if (pieces.length === 0) throw invalidField(['body', 'text'], 'the text has nothing to speak');
  for (const piece of pieces) voiceOf(piece, request.voices);
  return pieces;
}

async function* startingWith<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
