import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { Failure } from '../../shared/errors.ts';
import { ControlServiceService } from '../../shared/generated/parley/v1/control.ts';
import {
  type ConnectRequest,
  type Hello,
  type SessionEvent,
  type SessionSpec,
  WorkerLinkServiceService,
} from '../../shared/generated/parley/v1/worker_link.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { Coordination, WorkerStatus } from '../coordination/coordination.ts';
import { createControlService, type KeyOwner, type SpeechRecords } from './control-service.ts';
import { LinkedWorker, type ReserveOutcome, type WorkerStream } from './linked-worker.ts';

const HEARTBEAT_INTERVAL_MS = 1_000;
/** In beats: how long a worker's status stays true, and how long it may be silent. */
const STATUS_LIFE_BEATS = 3;
const HELLO_DEADLINE_MS = 5_000;
const END_DEADLINE_MS = 3_000;
const STOP_DEADLINE_MS = 1_000;
/** A timeline item may hold a tool's whole result. */
const MAX_RECEIVED_BYTES = 8 * 1024 * 1024;

/** PEM texts. With them a worker without a certificate of the same authority is refused. */
export interface LinkCertificates {
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

export interface WorkerLinkDeps {
  /** Unique among the replicas. */
  readonly controlPlaneId: string;
  readonly coordination: Pick<Coordination, 'heartbeat' | 'removeWorker' | 'locate'>;
  /**
   * Stores the event; resolves when it is stored, or was before, or never can be. Rejects only when the store did
   * not answer: the event then comes again, and so it may come twice.
   */
  readonly applyEvent: (workerId: string, event: SessionEvent) => Promise<void>;
  readonly authenticate: (apiKey: string) => Promise<KeyOwner>;
  readonly speech?: SpeechRecords;
  readonly clock: Clock;
  readonly log: Logger;
  readonly heartbeatIntervalMs?: number;
}

type WorkerListener = (workerId: string, sessionIds: readonly string[]) => void;

/**
 * The gRPC server that workers dial. A worker keeps a link to every replica of the control plane, so each replica
 * reserves and ends sessions over its own links and needs no other.
 */
export function createWorkerLink(deps: WorkerLinkDeps) {
  const { clock, log, coordination } = deps;
  const heartbeatIntervalMs = deps.heartbeatIntervalMs ?? HEARTBEAT_INTERVAL_MS;
  const lifeMs = heartbeatIntervalMs * STATUS_LIFE_BEATS;
  const workers = new Map<string, LinkedWorker>();
  const linkedListeners: WorkerListener[] = [];
  const lostListeners: WorkerListener[] = [];
  let server: Server | null = null;
  let isStopping = false;
  let isCoordinationFailing = false;

  function connect(stream: WorkerStream): void {
    let worker: LinkedWorker | null = null;
    let isOver = false;
    const helloCame = new AbortController();
    const finish = (isGoodbye = false) => {
      if (isOver) return;
      isOver = true;
      helloCame.abort();
      if (worker) lose(worker, isGoodbye);
      if (!stream.cancelled) stream.end();
    };
    stream.on('data', (request: ConnectRequest) => {
      const message = request.message;
      if (isOver) return;
      if (message?.$case === 'goodbye') return finish(true);
      if (worker) return worker.receive(message);
      if (message?.$case !== 'hello' || message.value.workerId === '')
        return refuse(stream, status.INVALID_ARGUMENT, 'the first message must be a hello');
      helloCame.abort();
      worker = welcome(stream, message.value);
    });
    for (const event of ['end', 'cancelled', 'error']) stream.on(event, () => finish());
    void clock.sleep(HELLO_DEADLINE_MS, helloCame.signal).then(() => {
      if (!helloCame.signal.aborted) refuse(stream, status.DEADLINE_EXCEEDED, 'no hello came');
    });
  }

  function welcome(stream: WorkerStream, hello: Hello): LinkedWorker {
    const worker = new LinkedWorker({
      stream,
      hello,
      applyEvent: deps.applyEvent,
      onHeartbeat: (beating) => void tellCoordination(beating.status),
      silenceMs: lifeMs,
      onSilent: () => refuse(stream, status.DEADLINE_EXCEEDED, 'no heartbeat came'),
      clock,
      log,
    });
    const before = workers.get(hello.workerId);
    workers.set(hello.workerId, worker);
    before?.close();
    stream.write({
      message: { $case: 'welcome', value: { controlPlaneId: deps.controlPlaneId, heartbeatIntervalMs } },
    });
    log.info({ workerId: hello.workerId, capacity: hello.capacity, version: hello.version }, 'worker linked');
    void tellCoordination(worker.status);
    for (const listener of linkedListeners) listener(hello.workerId, hello.sessionIds);
    return worker;
  }

  function lose(worker: LinkedWorker, isGoodbye: boolean): void {
    worker.close();
    if (workers.get(worker.workerId) !== worker) return;
    workers.delete(worker.workerId);
    if (isStopping) return;
    log.info({ workerId: worker.workerId, isGoodbye }, 'worker link ended');
    // A link that broke says nothing about the links to other replicas; a goodbye goes to all of them.
    if (isGoodbye) coordination.removeWorker(worker.workerId).catch(() => {});
    for (const listener of lostListeners) listener(worker.workerId, worker.status.sessionIds);
  }

  async function tellCoordination(worker: WorkerStatus): Promise<void> {
    try {
      await coordination.heartbeat(worker, deps.controlPlaneId, lifeMs);
      isCoordinationFailing = false;
    } catch (cause) {
      if (!isCoordinationFailing) log.warn({ err: cause }, 'heartbeat not recorded; the next one is tried');
      isCoordinationFailing = true;
    }
  }

  /**
   * Listens on `host:port` (port 0: any) and resolves with the port. Workers need a certificate when certificates
   * are given. Rejects when the port is taken.
   */
  async function start(address: string, certificates: LinkCertificates | null = null): Promise<number> {
    const starting = new Server({
      // A peer that hangs is noticed after 3 s: a ping every 2 s, answered within 1 s.
      'grpc.keepalive_time_ms': 2_000,
      'grpc.keepalive_timeout_ms': 1_000,
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.http2.min_ping_interval_without_data_ms': 1_000,
      'grpc.max_receive_message_length': MAX_RECEIVED_BYTES,
    });
    starting.addService(WorkerLinkServiceService, { connect });
    starting.addService(ControlServiceService, createControlService(deps));
    const port = await new Promise<number>((resolve, reject) => {
      starting.bindAsync(address, serverCredentials(certificates), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    server = starting;
    return port;
  }

  /** Ends every link and the server. Sessions live on; their workers dial again. */
  async function stop(): Promise<void> {
    isStopping = true;
    for (const worker of [...workers.values()]) worker.close();
    const stopping = server;
    if (!stopping) return;
    const stopped = new AbortController();
    const finished = new Promise<void>((resolve) => stopping.tryShutdown(() => resolve()));
    await Promise.race([finished, clock.sleep(STOP_DEADLINE_MS, stopped.signal)]);
    stopped.abort();
    stopping.forceShutdown();
    server = null;
  }

  /** Takes a slot of the worker, which decides. Never rejects; `unreachable` when it isn't linked here or is late. */
  async function reserve(workerId: string, spec: SessionSpec, deadlineMs: number): Promise<ReserveOutcome> {
    const worker = workers.get(workerId);
    return worker ? worker.reserve(spec, deadlineMs) : { isAccepted: false, refusal: 'unreachable' };
  }

  /** Frees the slot of a session that nobody joined. */
  function release(workerId: string, sessionId: string): void {
    workers.get(workerId)?.release(sessionId);
  }

  /**
   * Ends a live or reserved session: true when its worker has taken the order, false when no worker holds it.
   * Throws `Failure` `upstream_failed` when that can't be known now; repeating is safe.
   */
  async function end(sessionId: string, endReason: string): Promise<boolean> {
    const holder = [...workers.values()].filter((worker) => worker.status.sessionIds.includes(sessionId));
    // A worker tells its sessions once a beat; one that came in between is known to the worker alone.
    const asked = holder.length > 0 ? holder : [...workers.values()];
    const outcomes = await Promise.all(
      asked.map((worker) => worker.end(sessionId, endReason, END_DEADLINE_MS)),
    );
    if (outcomes.includes('ended')) return true;
    const location = await coordination.locate(sessionId).catch(() => null);
    const isElsewhere = location !== null && !workers.has(location.workerId);
    if (outcomes.includes('missed') || isElsewhere)
      throw new Failure('upstream_failed', 'Agent gateway is unreachable');
    return false;
  }

  /** Asks a worker to take nothing new and to stop when it is empty. False when it isn't linked here. */
  function drain(workerId: string): boolean {
    const worker = workers.get(workerId);
    worker?.drain();
    return worker !== undefined;
  }

  /** Workers that this replica can command, as they last described themselves. */
  function linkedWorkers(): WorkerStatus[] {
    return [...workers.values()].map((worker) => worker.status);
  }

  /** Called with the sessions a worker holds when its link comes up, anew or again. */
  function onWorkerLinked(listener: WorkerListener): void {
    linkedListeners.push(listener);
  }

  /**
   * Called with the sessions a worker held when its link to this replica ended. It may be back within seconds, or
   * linked to other replicas still: `coordination.locate` knows.
   */
  function onWorkerLost(listener: WorkerListener): void {
    lostListeners.push(listener);
  }

  return { start, stop, reserve, release, end, drain, linkedWorkers, onWorkerLinked, onWorkerLost };
}
export type WorkerLink = ReturnType<typeof createWorkerLink>;

/** Ends the stream with an error status, which is how grpc-js takes it; its `error` listeners hear of it too. */
function refuse(stream: WorkerStream, code: status, details: string): void {
  stream.emit('error', Object.assign(new Error(details), { code, details }));
}

function serverCredentials(certificates: LinkCertificates | null): ServerCredentials {
  if (!certificates) return ServerCredentials.createInsecure();
  const { caPem, certPem, keyPem } = certificates;
  return ServerCredentials.createSsl(
    Buffer.from(caPem),
    [{ cert_chain: Buffer.from(certPem), private_key: Buffer.from(keyPem) }],
    true,
  );
}
