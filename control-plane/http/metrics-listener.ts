import type { RequestListener } from 'node:http';
import type { Registry } from 'prom-client';
import type { Logger } from '../../shared/log.ts';

/** `GET /metrics` in Prometheus' text format, for the admin port alone; everything else is 404. */
export function createMetricsListener(registry: Registry, log: Logger): RequestListener {
  return (request, response) => {
    const path = request.url?.split('?')[0];
    if (path !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      (error: unknown) => {
        log.error({ err: error }, 'metrics could not be collected');
        response.writeHead(500).end();
      },
    );
  };
}
