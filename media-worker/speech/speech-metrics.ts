import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const FIRST_AUDIO_BUCKETS_MS = [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120];
const FACTOR_BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2];

/** By which way a request came. */
export type SpeechSurface = 'rest' | 'sse' | 'live' | 'asr';
export type SpeechOutcome = 'done' | 'refused' | 'failed' | 'cancelled';

export interface SpeechMetricsDeps {
  readonly registry: Registry;
  readonly inFlight: () => number;
  readonly cache: () => { readonly bytes: number; readonly hits: number; readonly misses: number };
  readonly unsettledUsage: () => number;
}

/** Figures of the speech API in Prometheus' words. Labels carry no ids. */
export function createSpeechMetrics(deps: SpeechMetricsDeps) {
  const registers = [deps.registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge('parley_speech_in_flight', 'Speech requests in flight.', deps.inFlight);
  gauge('parley_speech_cache_bytes', 'Memory of kept phrases.', () => deps.cache().bytes);
  gauge('parley_speech_cache_hits', 'Phrases spoken from memory since the start.', () => deps.cache().hits);
  gauge('parley_speech_cache_misses', 'Phrases that an engine was asked for.', () => deps.cache().misses);
  gauge('parley_speech_unsettled_usage', 'Usage not yet taken by a control plane.', deps.unsettledUsage);
  const requests = new Counter({
    name: 'parley_speech_requests_total',
    help: 'Speech requests by how they came and how they ended.',
    labelNames: ['surface', 'outcome'] as const,
    registers,
  });
  const firstAudio = new Histogram({
    name: 'parley_speech_first_audio_ms',
    help: 'From the request to its first bytes of audio.',
    labelNames: ['surface'] as const,
    buckets: FIRST_AUDIO_BUCKETS_MS,
    registers,
  });
  const ownShare = new Histogram({
    name: 'parley_speech_first_audio_own_ms',
    help: 'The same without the time the engine took.',
    labelNames: ['surface'] as const,
    buckets: FIRST_AUDIO_BUCKETS_MS,
    registers,
  });
  const factor = new Histogram({
    name: 'parley_speech_realtime_factor',
    help: 'Time of work for a second of audio.',
    labelNames: ['surface'] as const,
    buckets: FACTOR_BUCKETS,
    registers,
  });
  const bytes = new Counter({
    name: 'parley_speech_bytes_total',
    help: 'Bytes of audio sent (synthesis) or received (recognition).',
    labelNames: ['surface'] as const,
    registers,
  });
  const seconds = new Counter({
    name: 'parley_speech_audio_seconds_total',
    help: 'Seconds of audio spoken or heard.',
    labelNames: ['surface'] as const,
    registers,
  });

  return {
    ended: (surface: SpeechSurface, outcome: SpeechOutcome) => requests.inc({ surface, outcome }),
    firstAudio: (surface: SpeechSurface, ms: number, engineMs: number) => {
      firstAudio.observe({ surface }, ms);
      ownShare.observe({ surface }, Math.max(0, ms - engineMs));
    },
    processed: (surface: SpeechSurface, audioMs: number, workMs: number, audioBytes: number) => {
      if (audioMs > 0) factor.observe({ surface }, workMs / audioMs);
      seconds.inc({ surface }, audioMs / 1000);
      bytes.inc({ surface }, audioBytes);
    },
  };
}
export type SpeechMetrics = ReturnType<typeof createSpeechMetrics>;
