import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createWorkerLink,
  type LinkCertificates,
  type WorkerLinkDeps,
} from '../../control-plane/dispatch/worker-link.ts';
import { Admission } from '../../media-worker/coordination/admission.ts';
import type { CommandHandlers } from '../../media-worker/coordination/control-link.ts';
import { ControlLinks } from '../../media-worker/coordination/control-links.ts';
import { EventOutbox, type EventOutboxDeps } from '../../media-worker/coordination/event-outbox.ts';
import { Failure } from '../../shared/errors.ts';
import type { SessionEvent } from '../../shared/generated/parley/v1/worker_link.ts';
import { silentLogger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';

/** What tests leave running, ended in reverse order. */
export class Cleanups {
  readonly #steps: (() => Promise<unknown>)[] = [];

  add(step: () => Promise<unknown>): void {
    this.#steps.push(step);
  }

  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) await step();
  }
}

/** A store as the sessions keep it: each (session, sequence) once. */
export class EventStore {
  readonly bySession = new Map<string, number[]>();
  /** Calls that stored nothing new. */
  repeats = 0;
  /** Rejects while true. */
  isDown = false;
  calls = 0;

  readonly apply = async (_workerId: string, event: SessionEvent): Promise<void> => {
    this.calls++;
    if (this.isDown) throw new Error('store is down');
    const stored = this.bySession.get(event.sessionId) ?? [];
    await new Promise((resolve) => setImmediate(resolve));
    if (this.isDown) throw new Error('store is down');
    if (stored.includes(event.sequence)) this.repeats++;
    else stored.push(event.sequence);
    this.bySession.set(event.sessionId, stored);
  };

  count(): number {
    return [...this.bySession.values()].reduce((sum, sequences) => sum + sequences.length, 0);
  }
}

export const noCoordination: WorkerLinkDeps['coordination'] = {
  heartbeat: async () => {},
  removeWorker: async () => {},
  locate: async () => null,
};

export async function startControlPlane(
  cleanups: Cleanups,
  options: Partial<WorkerLinkDeps> & { port?: number; certificates?: LinkCertificates | null } = {},
) {
  const link = createWorkerLink({
    controlPlaneId: 'control-plane-1',
    coordination: noCoordination,
    applyEvent: async () => {},
    authenticate: async () => {
      throw new Failure('invalid_token', 'Invalid token');
    },
    clock: systemClock,
    log: silentLogger,
    heartbeatIntervalMs: 100,
    ...options,
  });
  const port = await link.start(`127.0.0.1:${options.port ?? 0}`, options.certificates ?? null);
  cleanups.add(link.stop);
  return { link, port };
}

export async function tempDir(cleanups: Cleanups): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-link-'));
  cleanups.add(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export interface WorkerOptions {
  readonly workerId?: string;
  readonly ports: readonly number[];
  readonly capacity?: number;
  readonly dir: string;
  readonly certificates?: LinkCertificates | null;
  readonly handlers?: Partial<CommandHandlers>;
  readonly outbox?: Partial<EventOutboxDeps>;
}

/** The worker's real side of the link, with sessions that are nothing but slots. */
export async function startWorker(cleanups: Cleanups, options: WorkerOptions) {
  const settled: string[] = [];
  const admission = new Admission({
    capacity: options.capacity ?? 10,
    clock: systemClock,
    tickerLatenessP99Ms: () => 0,
    eventLoopDelayP99Ms: () => 0,
  });
  const outbox = new EventOutbox({
    dir: options.dir,
    owner: { host: 'here', pid: process.pid, token: crypto.randomUUID(), isAlive: () => true },
    clock: systemClock,
    log: silentLogger,
    onSettled: (sessionId) => {
      settled.push(sessionId);
      admission.release(sessionId);
    },
    ...options.outbox,
  });
  await outbox.start();
  const links = new ControlLinks({
    identity: { workerId: options.workerId ?? 'worker-1', publicUrl: 'http://worker.test', version: 'test' },
    load: () => ({
      capacity: admission.capacity,
      occupied: admission.occupied,
      isDraining: admission.isDraining,
      eventLoopDelayP99Ms: 0,
      tickerLatenessP99Ms: 0,
      sessionIds: admission.sessionIds(),
    }),
    handlers: {
      reserve: (spec) => admission.reserve(spec.sessionId, spec.joinDeadlineMs),
      release: (sessionId) => void admission.release(sessionId),
      end: (sessionId) => admission.holds(sessionId),
      drain: () => admission.startDraining(),
      ...options.handlers,
    },
    certificates: options.certificates ?? null,
    clock: systemClock,
    random: () => 0.5,
    log: silentLogger,
    listAddresses: async () =>
      options.ports.map((port) => ({ target: `localhost:${port}`, serverName: null })),
    outbox,
  });
  links.start();
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await links.stop();
    await outbox.stop();
  };
  cleanups.add(stop);
  return { admission, outbox, links, settled, stop };
}

export function item(text: string) {
  return { $case: 'timelineItem' as const, value: { itemJson: JSON.stringify({ text }) } };
}

export const ended = {
  $case: 'ended' as const,
  value: { status: 'completed', endReason: 'user_hangup', startedAtMs: 1, endedAtMs: 2 },
};

/** 1, 2, … `last`. */
export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
