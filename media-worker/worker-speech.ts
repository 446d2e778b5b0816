import type { Registry } from 'prom-client';
import { findBuiltinVoice } from '../shared/builtin-voices.ts';
import type { Logger } from '../shared/log.ts';
import type { Clock } from '../shared/time.ts';
import { ThreadedEncoders } from './codec/audio-encoding.ts';
import { UploadDecoder } from './codec/upload/upload-decoder.ts';
import type { ControlCalls } from './coordination/control-calls.ts';
import type { HttpRoute, SocketRoute } from './ingress/socket-server.ts';
import { createAsrRoutes } from './ingress/speech-http/asr-routes.ts';
import { createTtsRoutes } from './ingress/speech-http/tts-routes.ts';
import { createLiveRoutes } from './ingress/tts-live/live-routes.ts';
import { PhraseCache } from './speech/phrase-cache.ts';
import { SpeechAdmission } from './speech/speech-admission.ts';
import { createSpeechMetrics } from './speech/speech-metrics.ts';
import type { SpeechSettings } from './speech/speech-settings.ts';
import { createSynthesis } from './speech/synthesize.ts';
import { createTranscription } from './speech/transcribe.ts';
import type { ResolveVoice } from './speech/tts-request.ts';
import { createTtsBodyCheck } from './speech/tts-schema.ts';
import { UsageReporter } from './speech/usage-reporter.ts';
import type { Engines } from './worker-engines.ts';

/** Longer phrases hardly ever come again. */
const CACHED_PHRASE_CHARACTERS = 200;
const SETTLE_DEADLINE_MS = 2_000;
/** Each takes a thread and up to 60 MB; past it uploads are told to come again. */
const UPLOADS_AT_ONCE = 16;

export interface WorkerSpeechDeps {
  readonly engines: Pick<Engines, 'tts' | 'asr' | 'vad'>;
  readonly calls: Pick<ControlCalls, 'authenticateKey' | 'resolveVoice' | 'reportUsage'>;
  readonly settings: SpeechSettings;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The speech API of a worker, on the engines of its calls. */
export function createWorkerSpeech(deps: WorkerSpeechDeps): {
  readonly http: readonly HttpRoute[];
  readonly sockets: readonly SocketRoute[];
  start(): Promise<void>;
  /** Tells the realtime clients to come back, before their sockets are cut. */
  goAway(): void;
  /** For when no request runs any more: settles what was used and ends the codec threads. */
  stop(): Promise<void>;
} {
  const { engines, calls, settings, clock, log } = deps;
  const encoders = new ThreadedEncoders({ clock, log });
  const cache = new PhraseCache({
    maxBytes: settings.phraseCacheBytes,
    maxCharacters: CACHED_PHRASE_CHARACTERS,
  });
  const admission = new SpeechAdmission({
    authenticate: calls.authenticateKey,
    maxInFlight: settings.maxInFlight,
    clock,
  });
  const usage = new UsageReporter({ report: calls.reportUsage, clock, log });
  const metrics = createSpeechMetrics({
    registry: deps.registry,
    inFlight: () => admission.inFlight,
    cache: () => cache.figures,
    unsettledUsage: () => usage.waitingCount,
  });
  const common = {
    identify: (apiKey: string) => admission.identify(apiKey),
    report: (error: unknown) => log.error({ err: error }, 'speech request failed'),
    checkBody: createTtsBodyCheck(settings.maxTextCharacters),
    resolveVoice: voiceResolver(calls),
    ttsFor: (model: string) => cache.of(engines.tts, model),
    encoders,
    admission,
    usage,
    metrics,
    clock,
    log,
  };
  const decoder = new UploadDecoder(
    { ffmpeg: settings.ffmpeg, maxSeconds: settings.maxUploadS, maxAtOnce: UPLOADS_AT_ONCE },
    clock,
  );
  const transcription = createTranscription({
    ...common,
    ...engines,
    decoder,
    recognitionsAtOnce: settings.recognitionsAtOnce,
  });
  const live = createLiveRoutes({
    ...common,
    maxTextCharacters: settings.maxTextCharacters,
    idleMs: settings.liveIdleMs,
  });

  return {
    http: [
      ...createTtsRoutes({ ...common, synthesis: createSynthesis(common) }),
      ...createAsrRoutes({ ...common, transcription, maxUploadBytes: settings.maxUploadBytes }),
    ],
    sockets: live.sockets,
    start: () => encoders.prewarm(),
    goAway: () => void live.closeAll(),
    stop: async () => {
      await usage.stop(SETTLE_DEADLINE_MS);
      await Promise.all([encoders.close(), decoder.close()]);
    },
  };
}

/** Built-in voices are known here; all others are the control plane's. */
function voiceResolver(calls: WorkerSpeechDeps['calls']): ResolveVoice {
  return async (referenceId, workspaceId) => {
    const builtin = findBuiltinVoice(referenceId);
    if (builtin) return { voice: builtin.id, language: builtin.language };
    const found = await calls.resolveVoice(referenceId, workspaceId);
    return found && { voice: found.voice === '' ? null : found.voice, language: found.language };
  };
}
