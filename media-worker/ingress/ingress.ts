import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { JoinGate } from '../transport/caller-connection.ts';
import { checkAdvertisedAddresses } from '../transport/candidate-filter.ts';
import { corsHeaders } from './cors.ts';
import { jsonReply } from './failure-reply.ts';
import type { IngressSettings } from './ingress-settings.ts';
import { createLiveKitRoutes } from './livekit-signalling/livekit-routes.ts';
import { openSocketServer } from './open-socket-server.ts';
import type { HttpRoute, SocketRoute, SocketServer } from './socket-server.ts';
import { createWhipRoutes } from './whip/whip-routes.ts';

export interface IngressDeps {
  readonly gate: JoinGate;
  readonly settings: IngressSettings;
  readonly clock: Clock;
  readonly log: Logger;
  /** Routes of other ways in that share the port. */
  readonly http?: readonly HttpRoute[];
  readonly sockets?: readonly SocketRoute[];
}

export interface Ingress {
  /** Opens the port; throws `PortTaken` when it can't. */
  start(): Promise<{ readonly port: number; readonly implementation: 'uws' | 'node' }>;
  /** Says goodbye to every caller, then closes the port. Safe to call twice. */
  stop(): Promise<void>;
}

/** Throws `RangeError` for settings that name no addresses. Every way callers come in: LiveKit signalling, WHIP and what else shares the worker's port. */
export function createIngress(deps: IngressDeps): Ingress {
  const { settings, log, clock } = deps;
  checkAdvertisedAddresses(settings.webrtc.advertisedAddresses);
  const liveKit = createLiveKitRoutes(deps);
  const whip = createWhipRoutes(deps);
  let server: SocketServer | null = null;

  async function start() {
    server = await openSocketServer({
      settings: settings.server,
      http: [healthRoute, ...liveKit.http, ...whip.http, ...(deps.http ?? [])],
      sockets: [...liveKit.sockets, ...(deps.sockets ?? [])],
      headersFor: corsHeaders,
      report: (error) => log.error({ error }, 'request failed'),
    });
    return { port: server.port, implementation: server.implementation };
  }

  async function stop(): Promise<void> {
    const open = server;
    server = null;
    if (!open) return;
    const callers = liveKit.closeAll() + whip.closeAll();
    if (callers > 0) await clock.sleep(settings.liveness.drainMs + GOODBYE_MS);
    await open.close();
  }

  return { start, stop };
}

/** Time for the last words to reach the callers before their sockets are cut. */
const GOODBYE_MS = 100;

const healthRoute: HttpRoute = {
  method: 'GET',
  path: '/healthz',
  maxBodyBytes: 0,
  handle: async () => jsonReply(200, { status: 'ok' }),
};
