import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DEFAULT_LIVENESS } from '../../media-worker/ingress/ingress-settings.ts';
import { DEFAULT_WEBRTC_SETTINGS } from '../../media-worker/transport/webrtc-settings.ts';
import { createSileroVad } from '../../media-worker/vad/engines/silero/silero-vad.ts';
import { createWorker, type Worker } from '../../media-worker/worker.ts';
import { silentLogger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';
import { SPEECH_SETTINGS } from '../support/speech-settings.ts';
import { createStubEngines, type StubEnginesOptions } from '../support/stub-engines.ts';
import { answerQuestions } from '../support/worker-process-side.ts';
import { sampleProcess } from './process-sample.ts';
import { VoiceObserver } from './voice-observer.ts';

interface StartInput {
  readonly controlAddress: string;
  readonly joinPublicPem: string;
  readonly engines: Omit<StubEnginesOptions, 'clock'>;
  /** Watch when sound comes and goes; costs a little CPU. */
  readonly observesVoice: boolean;
}

const CAPACITY = 64;
const STALL_STEP_MS = 2;
const stalls = monitorEventLoopDelay({ resolution: STALL_STEP_MS });
const observer = new VoiceObserver();
let worker: Worker | null = null;
let dataDir: string | null = null;

/** A media worker as `main.ts` makes it, with stub engines and the real voice detection. */
async function start(input: StartInput): Promise<{ port: number }> {
  const vad = await createSileroVad();
  if (input.observesVoice) observer.watchSending();
  dataDir = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  worker = await createWorker({
    speech: SPEECH_SETTINGS,
    clock: systemClock,
    log: silentLogger,
    engines: {
      ...createStubEngines({ ...input.engines, clock: systemClock }),
      vad: input.observesVoice ? observer.listening(vad) : vad,
    },
    ingress: {
      server: { implementation: 'auto', host: '127.0.0.1', port: 0, tls: null },
      webrtc: { ...DEFAULT_WEBRTC_SETTINGS, advertisedAddresses: ['127.0.0.1'], boundToLoopback: true },
      liveness: DEFAULT_LIVENESS,
    },
    capacity: CAPACITY,
    dataDir,
    joinPublicPem: input.joinPublicPem,
    controlAddresses: [input.controlAddress],
    certificates: null,
    resolve: async () => ['127.0.0.1'],
    publicUrl: (port) => `http://127.0.0.1:${port}`,
    version: 'bench',
  });
  stalls.enable();
  return worker.start();
}

const handlers = {
  start,
  sample: ({ collectsGarbage }: { collectsGarbage: boolean }) => sampleProcess(collectsGarbage),
  /** Of the pacing clock, in ms, over about the last 20 s; and the audio time it had to drop. */
  lateness: (_: null) => {
    if (!worker) throw new Error('not started');
    const { ticker } = worker;
    const [p50Ms, p95Ms, p99Ms] = [0.5, 0.95, 0.99].map((share) => ticker.lateness.quantileMs(share));
    return { p50Ms: p50Ms ?? 0, p95Ms: p95Ms ?? 0, p99Ms: p99Ms ?? 0, droppedMs: ticker.droppedMs };
  },
  /** The longest block of the main thread since the last time this was asked, in ms. */
  longestStallMs: (_: null) => {
    const longestMs = stalls.max / 1_000_000 - STALL_STEP_MS;
    stalls.reset();
    return Math.max(0, longestMs);
  },
  liveSessions: (_: null) => worker?.sessions.sessionIds.length ?? 0,
  sounds: (_: null) => ({ heard: observer.heard, sent: observer.sent }),
};
export type WorkerHandlers = typeof handlers;

answerQuestions(handlers, async () => {
  await worker?.stop();
  if (dataDir !== null) await rm(dataDir, { recursive: true, force: true });
});
