import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** Prometheus metrics of this process, in a registry of their own. */
export function createHttpMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durationSeconds = new Histogram({
    name: 'parley_http_request_duration_seconds',
    help: 'Time from the request line to the last byte of the reply, by route template.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    registers: [registry],
  });

  return {
    registry,
    /** `route` is the template, never the path itself: the number of series must not be in the callers' hands. */
    observe(method: string, route: string, status: number, durationMs: number): void {
      durationSeconds.observe({ method, route, status }, durationMs / 1000);
    },
  };
}
export type HttpMetrics = ReturnType<typeof createHttpMetrics>;
