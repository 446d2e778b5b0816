import { hostname } from 'node:os';
import { join } from 'node:path';
import { newId } from '../shared/ids.ts';
import { createJoinTokenVerifier } from '../shared/join-token.ts';
import type { Logger } from '../shared/log.ts';
import type { Clock } from '../shared/time.ts';
import { loadResampler } from './codec/resample.ts';
import { Admission } from './coordination/admission.ts';
import { listControlAddresses } from './coordination/control-addresses.ts';
import { createControlCalls } from './coordination/control-calls.ts';
import type { WorkerLoad } from './coordination/control-link.ts';
import { ControlLinks } from './coordination/control-links.ts';
import { createDrain } from './coordination/drain.ts';
import { EventLoopDelay } from './coordination/event-loop-delay.ts';
import { EventOutbox } from './coordination/event-outbox.ts';
import type { LinkCertificates } from './coordination/link-credentials.ts';
import { createIngress } from './ingress/ingress.ts';
import type { IngressSettings } from './ingress/ingress-settings.ts';
import { Ticker } from './playout/ticker.ts';
import { openSession } from './session/pipeline.ts';
import { SessionRegistry } from './session/session-registry.ts';
import type { SpeechSettings } from './speech/speech-settings.ts';
import { endReasonOf } from './turn/end-reason.ts';
import type { Engines } from './worker-engines.ts';
import { createWorkerMetrics } from './worker-metrics.ts';
import { createWorkerSpeech } from './worker-speech.ts';

const LONGEST_SESSION_MS = 3_600_000;

export interface WorkerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly engines: Engines;
  readonly ingress: IngressSettings;
  readonly speech: SpeechSettings;
  readonly capacity: number;
  readonly dataDir: string;
  readonly joinPublicPem: string;
  readonly controlAddresses: readonly string[];
  readonly certificates: LinkCertificates | null;
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
  /** Address that callers are told, by the port that was opened. */
  readonly publicUrl: (port: number) => string;
  readonly version: string;
}

export type Worker = Awaited<ReturnType<typeof createWorker>>;

/** The media worker's composition root: everything is made here, in the order in which it is needed. */
export async function createWorker(deps: WorkerDeps) {
  const { clock, log, engines } = deps;
  const workerId = newId();
  const openResampler = await loadResampler();
  const ticker = new Ticker();
  const eventLoopDelay = new EventLoopDelay(clock);
  const tickerLatenessP99Ms = () => ticker.lateness.quantileMs(0.99);
  const eventLoopDelayP99Ms = () => eventLoopDelay.p99Ms();
  const admission = new Admission({
    capacity: deps.capacity,
    clock,
    tickerLatenessP99Ms,
    eventLoopDelayP99Ms,
  });
  const outbox = new EventOutbox({
    dir: join(deps.dataDir, 'events'),
    owner: { host: hostname(), pid: process.pid, token: workerId, isAlive: isProcessAlive },
    clock,
    log,
    onSettled: (sessionId) => admission.release(sessionId),
  });
  const metrics = createWorkerMetrics({
    occupied: () => admission.occupied,
    capacity: deps.capacity,
    tickerLatenessP99Ms,
    eventLoopDelayP99Ms,
    unsentEvents: () => outbox.unsettledSessionIds().length,
  });
  const sessions = new SessionRegistry({
    verifyToken: createJoinTokenVerifier(deps.joinPublicPem, clock).verify,
    openSession: (spec, onEnded) =>
      openSession(
        {
          ...engines,
          openResampler,
          ticker,
          clock,
          log,
          publish: (sessionId, event) => {
            if (event.$case === 'joined') admission.join(sessionId);
            outbox.publish(sessionId, event);
          },
          onTurnMeasured: metrics.observeTurn,
        },
        spec,
        onEnded,
      ),
    onGone: (sessionId) => {
      if (outbox.isSettled(sessionId)) admission.release(sessionId);
    },
    clock,
    log,
  });
  const drain = createDrain({ admission, outbox, longestSessionMs: LONGEST_SESSION_MS, clock, log });
  const listAddresses = () => listControlAddresses(deps.controlAddresses, deps.resolve);
  const calls = createControlCalls({ listAddresses, certificates: deps.certificates, clock });
  const speech = createWorkerSpeech({
    engines,
    calls,
    settings: deps.speech,
    registry: metrics.registry,
    clock,
    log,
  });
  const { http, sockets } = speech;
  const ingress = createIngress({ gate: sessions, settings: deps.ingress, http, sockets, clock, log });
  let links: ControlLinks | null = null;

  /** What every heartbeat says; reservations that ran out are freed on the way. */
  function load(): WorkerLoad {
    admission.expire();
    return {
      capacity: deps.capacity,
      occupied: admission.occupied,
      isDraining: admission.isDraining,
      eventLoopDelayP99Ms: eventLoopDelayP99Ms(),
      tickerLatenessP99Ms: tickerLatenessP99Ms(),
      sessionIds: [...new Set([...admission.sessionIds(), ...outbox.unsettledSessionIds()])],
    };
  }

  async function start(): Promise<{ port: number }> {
    eventLoopDelay.start();
    await Promise.all([outbox.start(), speech.start()]);
    const { port, implementation } = await ingress.start();
    links = new ControlLinks({
      identity: { workerId, publicUrl: deps.publicUrl(port), version: deps.version },
      load,
      handlers: {
        reserve: (spec) => {
          const answer = admission.reserve(spec.sessionId, spec.joinDeadlineMs);
          if (answer.accepted) sessions.reserve(spec);
          return answer;
        },
        release: (sessionId) => sessions.release(sessionId),
        end: (sessionId, endReason) => sessions.end(sessionId, endReasonOf(endReason)),
        drain: () => void drain.drain(),
      },
      certificates: deps.certificates,
      listAddresses,
      outbox,
      clock,
      random: Math.random,
      log,
    });
    links.start();
    log.info({ port, implementation, workerId }, 'worker is up');
    return { port };
  }

  /** Ends every call, tells the control plane, and frees everything. For an end without hurry there is `drain`. */
  async function stop(): Promise<void> {
    admission.startDraining();
    sessions.endAll('internal_error');
    speech.goAway();
    await ingress.stop();
    await speech.stop();
    calls.close();
    await waitUntil(clock, STORE_DEADLINE_MS, () => outbox.isEmpty);
    await links?.stop();
    await outbox.stop();
    ticker.stop();
    eventLoopDelay.stop();
    await Promise.all([engines.asr.close(), engines.tts.close()]);
  }

  return {
    start,
    stop,
    drain: drain.drain,
    isLinked: () => (links?.upCount ?? 0) > 0,
    metrics: metrics.registry,
    sessions,
    ticker,
  };
}

/** What isn't acknowledged by then stays on disk for the next process. */
const STORE_DEADLINE_MS = 3_000;

async function waitUntil(clock: Clock, deadlineMs: number, isTrue: () => boolean): Promise<void> {
  const endMs = clock.monotonicMs() + deadlineMs;
  while (!isTrue() && clock.monotonicMs() < endMs) await clock.sleep(20);
}

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
