import { lookup } from 'node:dns/promises';
import type { Logger } from '../shared/log.ts';
import { createOutgoingClient } from '../shared/outgoing/outgoing-client.ts';
import type { Clock } from '../shared/time.ts';
import type { AsrEngine } from './asr/asr-engine.ts';
import { OpenAiAsr } from './asr/engines/openai-asr.ts';
import { PocketSphinxEngine } from './asr/engines/pocketsphinx/pocketsphinx-engine.ts';
import { prepareRecogniser } from './asr/engines/pocketsphinx/python-environment.ts';
import { noRecogniser } from './asr/no-recogniser.ts';
import type { WorkerSettings } from './config.ts';
import { BuiltinResponder } from './llm/engines/builtin-responder.ts';
import { OpenAiLlm } from './llm/engines/openai/openai-llm.ts';
import type { LlmEngine } from './llm/llm-engine.ts';
import { EspeakEngine } from './tts/engines/espeak/espeak-engine.ts';
import { FliteEngine } from './tts/engines/flite/flite-engine.ts';
import { OpenAiTts } from './tts/engines/openai/openai-tts.ts';
import { SpeechRouter } from './tts/speech-router.ts';
import type { TtsEngine } from './tts/tts-engine.ts';
import { createSileroVad } from './vad/engines/silero/silero-vad.ts';
import type { VadEngine } from './vad/vad-engine.ts';

export interface Engines {
  readonly vad: VadEngine;
  readonly asr: AsrEngine;
  readonly llm: LlmEngine;
  readonly tts: TtsEngine;
}

/** The first preparation of the recogniser downloads its model; it may take this long. */
const PREPARE_DEADLINE_MS = 120_000;

/** The engines that the settings name, the built-in ones where they name none, ready to be used. */
export async function createEngines(
  settings: WorkerSettings,
  clock: Clock,
  log: Logger,
  say: (line: string) => void,
): Promise<Engines> {
  const deps = { clock, log, http: operatorClient(settings) };
  const tts = createTts(settings, deps);
  const llm = createLlm(settings, deps);
  const [vad, asr] = await Promise.all([
    createSileroVad(),
    createAsr(settings, deps, say),
    tts.prewarm(),
    llm.prewarm(),
  ]);
  return { vad, asr, llm, tts };
}

/** Endpoints of the settings are the operator's own word: they may be private. */
function operatorClient(settings: WorkerSettings) {
  const bases = [settings.LLM_BASE_URL, settings.TTS_BASE_URL, settings.ASR_BASE_URL]
    .filter((url) => url !== '')
    .map((url) => new URL(url));
  return createOutgoingClient({
    resolve: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
    keepAliveMs: 60_000,
    allowHosts: bases.map((url) => `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`),
  });
}

type EngineDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly http: ReturnType<typeof operatorClient>;
};

function createTts(settings: WorkerSettings, deps: EngineDeps): SpeechRouter {
  const { TTS_BASE_URL: baseUrl, TTS_API_KEY: apiKey, TTS_MODEL: model, TTS_VOICE: voice } = settings;
  return new SpeechRouter({
    builtin: { flite: new FliteEngine(deps), espeak: new EspeakEngine(deps) },
    service: baseUrl === '' ? null : new OpenAiTts(deps, { baseUrl, apiKey: apiKey || null, model, voice }),
    clock: deps.clock,
    log: deps.log,
  });
}

function createLlm(settings: WorkerSettings, deps: EngineDeps): LlmEngine {
  const { LLM_BASE_URL: baseUrl, LLM_API_KEY: apiKey, LLM_MODEL: model } = settings;
  if (baseUrl === '') return new BuiltinResponder();
  return new OpenAiLlm(deps, { baseUrl, apiKey: apiKey || null, model, sendsSessionFields: false });
}

async function createAsr(
  settings: WorkerSettings,
  deps: EngineDeps,
  say: (line: string) => void,
): Promise<AsrEngine> {
  const { ASR_BASE_URL: baseUrl, ASR_API_KEY: apiKey, ASR_MODEL: model } = settings;
  if (baseUrl !== '') return new OpenAiAsr(deps, { baseUrl, apiKey: apiKey || null, model });
  const prepared = await prepareRecogniser({
    dataDir: settings.PARLEY_DATA_DIR,
    python: settings.PARLEY_PYTHON,
    onProgress: say,
    signal: AbortSignal.timeout(PREPARE_DEADLINE_MS),
  });
  if ('missing' in prepared) {
    deps.log.warn({ reason: prepared.missing }, 'no recogniser: typed messages only');
    return noRecogniser(prepared.missing);
  }
  const engine = new PocketSphinxEngine({
    ...deps,
    pythonPath: prepared.pythonPath,
    maxSessions: settings.ASR_BUILTIN_MAX,
  });
  // It starts again by itself; a first caller before that reads why there is no hearing.
  await engine.prewarm().catch((err: unknown) => deps.log.warn({ err }, 'recogniser did not start'));
  return engine;
}
