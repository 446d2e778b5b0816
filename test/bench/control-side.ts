import { generateKeyPairSync } from 'node:crypto';
import { createWorkerLink } from '../../control-plane/dispatch/worker-link.ts';
import { Failure } from '../../shared/errors.ts';
import type { SessionEvent, SessionSpec } from '../../shared/generated/parley/v1/worker_link.ts';
import { newSessionId } from '../../shared/ids.ts';
import { createJoinTokenSigner, joinPublicPem } from '../../shared/join-token.ts';
import { silentLogger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';
import { sessionSpec } from '../fakes/fake-worker-session.ts';
import { eventually } from '../support/eventually.ts';

const LINK_LIMIT_MS = 20_000;
const RESERVE_LIMIT_MS = 1_500;
/** A worker whose clock was late for a moment takes no session; on a shared machine that passes. */
const PATIENCE_MS = 30_000;
const SESSION_LIFE_S = 600;

export interface ReservedSession {
  readonly sessionId: string;
  readonly token: string;
}

/**
 * The control plane as a worker sees it: the real gRPC server that it dials, reserving sessions and acknowledging
 * every event, without a store behind it. Runs in the bench's own process.
 */
export async function startControlSide() {
  const { privateKey } = generateKeyPairSync('ed25519');
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const tokens = createJoinTokenSigner(privatePem);
  const events: SessionEvent[] = [];
  const ended = new Set<string>();
  const link = createWorkerLink({
    controlPlaneId: 'bench',
    coordination: { heartbeat: async () => {}, removeWorker: async () => {}, locate: async () => null },
    applyEvent: async (_workerId, event) => {
      if (event.event?.$case === 'turnMetrics') events.push(event);
      if (event.event?.$case === 'ended') ended.add(event.sessionId);
    },
    authenticate: async () => {
      throw new Failure('invalid_token', 'Invalid token');
    },
    clock: systemClock,
    log: silentLogger,
  });
  const port = await link.start('127.0.0.1:0');
  let refusals = 0;

  /** The worker that has dialled, as soon as it has. */
  const linkedWorker = () =>
    eventually('the worker has linked', LINK_LIMIT_MS, () => link.linkedWorkers()[0] ?? null);

  async function reserve(overrides: Partial<SessionSpec> = {}): Promise<ReservedSession> {
    const { workerId } = await linkedWorker();
    const nowMs = systemClock.nowMs();
    const sessionId = newSessionId(nowMs);
    const spec = sessionSpec(sessionId, { maxDurationS: SESSION_LIFE_S, ...overrides });
    await eventually('a slot', PATIENCE_MS, async () => {
      const outcome = await link.reserve(workerId, spec, RESERVE_LIMIT_MS);
      if (outcome.isAccepted) return true;
      refusals++;
      await systemClock.sleep(500);
      return null;
    });
    const grant = { sessionId, workerId, identity: 'caller', name: '' };
    return { sessionId, token: await tokens.sign(grant, nowMs + SESSION_LIFE_S * 1000) };
  }

  const untilEnded = (sessionId: string, limitMs: number) =>
    eventually('the session has ended', limitMs, () => (ended.delete(sessionId) ? true : null));

  /** The waterfalls of turns that came since the last call. */
  function takeTurns(): Record<string, number | null>[] {
    return events
      .splice(0)
      .flatMap(({ event }) => (event?.$case === 'turnMetrics' ? [JSON.parse(event.value.metricsJson)] : []));
  }

  return {
    address: `127.0.0.1:${port}`,
    joinPublicPem: joinPublicPem(privatePem),
    linkedWorker,
    reserve,
    untilEnded,
    takeTurns,
    /** How often the worker refused a session for being late or full. */
    refusals: () => refusals,
    stop: () => link.stop(),
  };
}
export type ControlSide = Awaited<ReturnType<typeof startControlSide>>;
