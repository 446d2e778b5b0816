import { Gauge, Histogram, Registry } from 'prom-client';
import { TURN_MARKS, type TurnLatency, type TurnMark } from './session/turn-latency.ts';

export interface WorkerMetricsDeps {
  readonly occupied: () => number;
  readonly capacity: number;
  readonly tickerLatenessP99Ms: () => number;
  readonly eventLoopDelayP99Ms: () => number;
  readonly unsentEvents: () => number;
}

const BUCKETS_MS = [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120];

/** Live figures of one worker in Prometheus' words. Labels carry no ids. */
export function createWorkerMetrics(deps: WorkerMetricsDeps) {
  const registry = new Registry();
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge('parley_worker_sessions', 'Sessions reserved and live.', deps.occupied);
  gauge('parley_worker_capacity', 'Most sessions at once.', () => deps.capacity);
  gauge('parley_worker_ticker_lateness_p99_ms', 'Lateness of the pacing clock.', deps.tickerLatenessP99Ms);
  gauge('parley_worker_event_loop_delay_p99_ms', 'Delay of the main thread.', deps.eventLoopDelayP99Ms);
  gauge(
    'parley_worker_unsettled_sessions',
    'Sessions whose events are not all acknowledged.',
    deps.unsentEvents,
  );
  const stages = new Histogram({
    name: 'parley_turn_stage_ms',
    help: 'Time from the end of the turn to each stage of the reply.',
    labelNames: ['stage'] as const,
    buckets: BUCKETS_MS,
    registers: [registry],
  });

  function observeTurn(latency: TurnLatency): void {
    for (const stage of TURN_MARKS) observe(latency, stage);
  }

  function observe(latency: TurnLatency, stage: TurnMark): void {
    const ms = latency.between('end_of_turn', stage);
    if (ms !== null && ms >= 0 && stage !== 'end_of_turn') stages.observe({ stage }, ms);
  }

  return { registry, observeTurn };
}
