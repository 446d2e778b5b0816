import { createIngress, type Ingress } from '../../media-worker/ingress/ingress.ts';
import { DEFAULT_LIVENESS, type LivenessSettings } from '../../media-worker/ingress/ingress-settings.ts';
import type { HttpRoute } from '../../media-worker/ingress/socket-server.ts';
import type { CallerConnection } from '../../media-worker/transport/caller-connection.ts';
import {
  DEFAULT_WEBRTC_SETTINGS,
  type WebRtcSettings,
} from '../../media-worker/transport/webrtc-settings.ts';
import { silentLogger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';
import { FakeJoinGate } from '../fakes/fake-join-gate.ts';
import { tone } from '../support/pitch.ts';

export interface TestIngress {
  readonly gate: FakeJoinGate;
  readonly ingress: Ingress;
  readonly wsUrl: string;
  readonly httpUrl: string;
}

interface Options {
  readonly implementation?: 'auto' | 'uws' | 'node';
  readonly liveness?: Partial<LivenessSettings>;
  readonly webrtc?: Partial<WebRtcSettings>;
  /** Served on the same port. */
  readonly http?: readonly HttpRoute[];
}

/** The worker's ingress on a free loopback port, with sessions that tests make up. */
export async function startTestIngress(options: Options = {}): Promise<TestIngress> {
  const gate = new FakeJoinGate();
  const ingress = createIngress({
    gate,
    http: options.http ?? [],
    settings: {
      server: { implementation: options.implementation ?? 'auto', host: '127.0.0.1', port: 0, tls: null },
      webrtc: { ...DEFAULT_WEBRTC_SETTINGS, boundToLoopback: true, ...options.webrtc },
      liveness: { ...DEFAULT_LIVENESS, ...options.liveness },
    },
    clock: systemClock,
    log: silentLogger,
  });
  const { port } = await ingress.start();
  return { gate, ingress, wsUrl: `ws://127.0.0.1:${port}`, httpUrl: `http://127.0.0.1:${port}` };
}

/** Plays a sine to the caller, paced by the clock, until the returned function is called. */
export function playTone(connection: CallerConnection, hz: number): () => void {
  const rateHz = 24_000;
  const second = tone(hz, 1_000, rateHz);
  const startMs = performance.now();
  let sentFrames = 0;
  const timer = setInterval(() => {
    for (; sentFrames * 10 < performance.now() - startMs; sentFrames++) {
      const at = (sentFrames % 100) * 240;
      connection.sendAudio(second.slice(at, at + 240), rateHz);
    }
  }, 5);
  return () => clearInterval(timer);
}
