import type { ClientDuplexStream } from '@grpc/grpc-js';
import {
  type ConnectRequest,
  type ConnectResponse,
  type SessionEvent,
  type SessionSpec,
  WorkerLinkServiceClient,
} from '../../shared/generated/parley/v1/worker_link.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { ReserveAnswer } from './admission.ts';
import {
  type ControlAddress,
  channelOptions,
  type LinkCertificates,
  linkCredentials,
} from './link-credentials.ts';

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;
/** Connecting, TLS and the answer to `hello` together. */
const WELCOME_DEADLINE_MS = 5_000;
const GOODBYE_DEADLINE_MS = 1_000;

export interface WorkerIdentity {
  readonly workerId: string;
  /** http or https, no trailing slash; callers and the control plane's forwarder reach it. */
  readonly publicUrl: string;
  readonly version: string;
}

export interface WorkerLoad {
  readonly capacity: number;
  /** Reserved and live sessions together, those whose record is not stored yet included. */
  readonly occupied: number;
  readonly isDraining: boolean;
  readonly eventLoopDelayP99Ms: number;
  readonly tickerLatenessP99Ms: number;
  readonly sessionIds: readonly string[];
}

/** What the control plane may ask of the worker. A handler that throws refuses, and is logged. */
export interface CommandHandlers {
  reserve(spec: SessionSpec): ReserveAnswer;
  release(sessionId: string): void;
  /** Ends a live or reserved session; false when there is none. `endReason` is a value of `end_reason`. */
  end(sessionId: string, endReason: string): boolean;
  drain(): void;
}

export interface ControlLinkDeps {
  readonly identity: WorkerIdentity;
  readonly load: () => WorkerLoad;
  readonly handlers: CommandHandlers;
  readonly certificates: LinkCertificates | null;
  readonly clock: Clock;
  /** 0 ≤ x < 1; spreads reconnects. */
  readonly random: () => number;
  readonly log: Logger;
  readonly onUp: (link: ControlLink) => void;
  readonly onDown: (link: ControlLink) => void;
  readonly onAcknowledged: (sessionId: string, sequence: number) => void;
}

type Stream = ClientDuplexStream<ConnectRequest, ConnectResponse>;

/** The worker's stream to one control-plane replica: dials, says hello, beats, obeys, and dials again when it breaks. */
export class ControlLink {
  readonly address: ControlAddress;
  readonly #deps: ControlLinkDeps;
  readonly #stopping = new AbortController();
  #stream: Stream | null = null;
  #isUp = false;
  #running: Promise<void> | null = null;

  constructor(address: ControlAddress, deps: ControlLinkDeps) {
    this.address = address;
    this.#deps = deps;
  }

  /** Welcomed, and not broken since. */
  get isUp(): boolean {
    return this.#isUp;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Says goodbye: the control plane then knows that this worker isn't coming back. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#write({ $case: 'goodbye', value: {} });
    this.#stream?.end();
    await this.#running;
  }

  send(event: SessionEvent): void {
    this.#write({ $case: 'sessionEvent', value: event });
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#deps;
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      const wasUp = await this.#connectOnce();
      if (signal.aborted) return;
      failures = wasUp ? 0 : failures + 1;
      const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures, 10));
      await clock.sleep(backoffMs * (0.5 + random() / 2), signal);
    }
  }

  /** Resolves when the stream has ended; true when it had been welcomed. Never rejects. */
  async #connectOnce(): Promise<boolean> {
    const client = new WorkerLinkServiceClient(
      this.address.target,
      linkCredentials(this.#deps.certificates),
      channelOptions(this.address),
    );
    const ended = new AbortController();
    const stream = client.connect();
    this.#stream = stream;
    let wasUp = false;
    let problem: string | null = null;
    stream.on('data', (response: ConnectResponse) => {
      if (response.message?.$case === 'welcome' && !this.#isUp) {
        wasUp = true;
        this.#welcomed(response.message.value.heartbeatIntervalMs, ended.signal);
      } else this.#obey(response);
    });
    const closed = new Promise<void>((resolve) => {
      stream.on('error', (error) => {
        problem = error.message;
        resolve();
      });
      stream.on('status', () => resolve());
      stream.on('end', () => stream.end());
    });
    this.#write({
      $case: 'hello',
      value: { ...this.#deps.identity, capacity: this.#deps.load().capacity, sessionIds: this.#sessionIds() },
    });
    void this.#watch(stream, ended.signal);
    await closed;
    ended.abort();
    stream.cancel();
    client.close();
    this.#stream = null;
    this.#goDown(problem);
    return wasUp;
  }

  #welcomed(heartbeatIntervalMs: number, ended: AbortSignal): void {
    this.#isUp = true;
    this.#deps.log.info({ controlPlane: this.address.target }, 'linked to the control plane');
    void this.#beat(heartbeatIntervalMs, ended);
    this.#deps.onUp(this);
  }

  #goDown(problem: string | null): void {
    if (!this.#isUp) {
      this.#deps.log.debug({ controlPlane: this.address.target, problem }, 'control plane is not reachable');
      return;
    }
    this.#isUp = false;
    if (!this.#stopping.signal.aborted)
      this.#deps.log.warn({ controlPlane: this.address.target, problem }, 'link to the control plane lost');
    this.#deps.onDown(this);
  }

  /** Cancels a stream that isn't welcomed in time, or doesn't end in time once it should. */
  async #watch(stream: Stream, ended: AbortSignal): Promise<void> {
    const over = AbortSignal.any([ended, this.#stopping.signal]);
    await this.#deps.clock.sleep(WELCOME_DEADLINE_MS, over);
    if (!over.aborted && !this.#isUp) return stream.cancel();
    await untilAborted(over);
    if (ended.aborted) return;
    await this.#deps.clock.sleep(GOODBYE_DEADLINE_MS, ended);
    if (!ended.aborted) stream.cancel();
  }

  async #beat(intervalMs: number, ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      const { isDraining, sessionIds, ...load } = this.#deps.load();
      this.#write({
        $case: 'heartbeat',
        value: { ...load, draining: isDraining, sessionIds: [...sessionIds] },
      });
      await this.#deps.clock.sleep(intervalMs, ended);
    }
  }

  #obey(response: ConnectResponse): void {
    const message = response.message;
    const { handlers } = this.#deps;
    switch (message?.$case) {
      case 'reserve':
        return this.#reserve(message.value.requestId, message.value.session);
      case 'release':
        this.#guarded(() => handlers.release(message.value.sessionId), undefined);
        return;
      case 'endSession': {
        const { requestId, sessionId, endReason } = message.value;
        const found = this.#guarded(() => handlers.end(sessionId, endReason), false);
        return this.#write({ $case: 'endResult', value: { requestId, found } });
      }
      case 'eventAck':
        return this.#deps.onAcknowledged(message.value.sessionId, message.value.sequence);
      case 'drain':
        this.#guarded(() => handlers.drain(), undefined);
        return;
    }
  }

  #reserve(requestId: string, spec: SessionSpec | undefined): void {
    const refused: ReserveAnswer = { accepted: false, refusal: 'full' };
    const answer = spec ? this.#guarded(() => this.#deps.handlers.reserve(spec), refused) : refused;
    this.#write({
      $case: 'reserveResult',
      value: { requestId, accepted: answer.accepted, refusal: answer.accepted ? '' : answer.refusal },
    });
  }

  #guarded<T>(work: () => T, otherwise: T): T {
    try {
      return work();
    } catch (cause) {
      this.#deps.log.error({ err: cause }, 'command of the control plane failed');
      return otherwise;
    }
  }

  #sessionIds(): string[] {
    return [...this.#deps.load().sessionIds];
  }

  #write(message: NonNullable<ConnectRequest['message']>): void {
    if (this.#stream?.writable) this.#stream.write({ message });
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
