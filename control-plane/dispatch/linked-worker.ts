import { randomUUID } from 'node:crypto';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type {
  ConnectRequest,
  ConnectResponse,
  Heartbeat,
  Hello,
  SessionEvent,
  SessionSpec,
} from '../../shared/generated/parley/v1/worker_link.ts';
import type { Logger } from '../../shared/log.ts';
import { type Clock, withDeadline } from '../../shared/time.ts';
import type { WorkerStatus } from '../coordination/coordination.ts';
import { EventIntake } from './event-intake.ts';

export type WorkerStream = ServerDuplexStream<ConnectRequest, ConnectResponse>;

/** `unreachable`: no answer within the deadline; the worker has been told to give the slot back. */
export type ReserveOutcome =
  | { readonly isAccepted: true }
  | { readonly isAccepted: false; readonly refusal: 'full' | 'draining' | 'duplicate' | 'unreachable' };

/** `missed`: the worker did not answer within the deadline. */
export type EndOutcome = 'ended' | 'not_found' | 'missed';

export interface LinkedWorkerDeps {
  readonly stream: WorkerStream;
  readonly hello: Hello;
  readonly applyEvent: (workerId: string, event: SessionEvent) => Promise<void>;
  /** The worker has beaten; its status is up to date. */
  readonly onHeartbeat: (worker: LinkedWorker) => void;
  /** A worker that sends nothing for so long is taken for lost. */
  readonly silenceMs: number;
  readonly onSilent: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

type Answer = { readonly accepted: boolean; readonly refusal: string } | { readonly found: boolean };

/** One worker's stream, from its hello on: what it said last, and what it has been asked. */
export class LinkedWorker {
  readonly workerId: string;
  readonly #deps: LinkedWorkerDeps;
  readonly #intake: EventIntake;
  readonly #questions = new Map<string, (answer: Answer | null) => void>();
  readonly #closed = new AbortController();
  #status: WorkerStatus;
  #lastHeardMs: number;

  constructor(deps: LinkedWorkerDeps) {
    this.#deps = deps;
    const { hello, clock, log } = deps;
    this.workerId = hello.workerId;
    this.#lastHeardMs = clock.monotonicMs();
    this.#status = {
      workerId: hello.workerId,
      publicUrl: hello.publicUrl,
      capacity: hello.capacity,
      occupied: hello.sessionIds.length,
      isDraining: false,
      eventLoopDelayP99Ms: 0,
      tickerLatenessP99Ms: 0,
      sessionIds: hello.sessionIds,
    };
    this.#intake = new EventIntake({
      apply: (event) => deps.applyEvent(hello.workerId, event),
      acknowledge: (sessionId, sequence) =>
        this.#write({ $case: 'eventAck', value: { sessionId, sequence } }),
      clock,
      log,
    });
    void this.#watchSilence();
  }

  get status(): WorkerStatus {
    return this.#status;
  }

  /** Takes a message that came after the hello. */
  receive(message: ConnectRequest['message']): void {
    this.#lastHeardMs = this.#deps.clock.monotonicMs();
    switch (message?.$case) {
      case 'heartbeat':
        this.#status = statusOf(this.#status, message.value);
        return this.#deps.onHeartbeat(this);
      case 'sessionEvent':
        return this.#intake.push(message.value);
      case 'reserveResult':
      case 'endResult':
        return this.#questions.get(message.value.requestId)?.(message.value);
    }
  }

  async reserve(session: SessionSpec, deadlineMs: number): Promise<ReserveOutcome> {
    const requestId = randomUUID();
    const answer = await this.#ask(
      requestId,
      { $case: 'reserve', value: { requestId, session } },
      deadlineMs,
    );
    if (answer === null || !('accepted' in answer)) {
      // An answer that is still to come would hold the slot for nobody.
      this.release(session.sessionId);
      return { isAccepted: false, refusal: 'unreachable' };
    }
    if (!answer.accepted) return { isAccepted: false, refusal: refusalOf(answer.refusal) };
    const { sessionIds, occupied } = this.#status;
    this.#status = {
      ...this.#status,
      occupied: occupied + 1,
      sessionIds: [...sessionIds, session.sessionId],
    };
    return { isAccepted: true };
  }

  release(sessionId: string): void {
    this.#write({ $case: 'release', value: { sessionId } });
  }

  async end(sessionId: string, endReason: string, deadlineMs: number): Promise<EndOutcome> {
    const requestId = randomUUID();
    const value = { requestId, sessionId, endReason };
    const answer = await this.#ask(requestId, { $case: 'endSession', value }, deadlineMs);
    if (answer === null || !('found' in answer)) return 'missed';
    return answer.found ? 'ended' : 'not_found';
  }

  drain(): void {
    this.#write({ $case: 'drain', value: {} });
  }

  /** Ends the stream; the worker dials again. Safe to call twice. */
  close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    for (const answer of this.#questions.values()) answer(null);
    this.#deps.stream.end();
  }

  async #ask(
    requestId: string,
    message: NonNullable<ConnectResponse['message']>,
    deadlineMs: number,
  ): Promise<Answer | null> {
    if (this.#closed.signal.aborted) return null;
    const answered = new Promise<Answer | null>((resolve) => this.#questions.set(requestId, resolve));
    this.#write(message);
    try {
      return await withDeadline(this.#deps.clock, 'worker', deadlineMs, answered);
    } catch {
      return null;
    } finally {
      this.#questions.delete(requestId);
    }
  }

  async #watchSilence(): Promise<void> {
    const { clock, silenceMs, onSilent } = this.#deps;
    const { signal } = this.#closed;
    while (!signal.aborted) {
      const leftMs = this.#lastHeardMs + silenceMs - clock.monotonicMs();
      if (leftMs <= 0) return onSilent();
      await clock.sleep(leftMs, signal);
    }
  }

  #write(message: NonNullable<ConnectResponse['message']>): void {
    const { stream } = this.#deps;
    if (!this.#closed.signal.aborted && stream.writable && !stream.cancelled) stream.write({ message });
  }
}

function statusOf(before: WorkerStatus, beat: Heartbeat): WorkerStatus {
  return {
    workerId: before.workerId,
    publicUrl: before.publicUrl,
    capacity: beat.capacity,
    occupied: beat.occupied,
    isDraining: beat.draining,
    eventLoopDelayP99Ms: beat.eventLoopDelayP99Ms,
    tickerLatenessP99Ms: beat.tickerLatenessP99Ms,
    sessionIds: beat.sessionIds,
  };
}

function refusalOf(text: string): 'full' | 'draining' | 'duplicate' {
  return text === 'draining' || text === 'duplicate' ? text : 'full';
}
