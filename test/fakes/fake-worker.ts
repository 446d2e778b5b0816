import { type ClientDuplexStream, credentials } from '@grpc/grpc-js';
import {
  type ConnectRequest,
  type ConnectResponse,
  type SessionEvent,
  WorkerLinkServiceClient,
} from '../../shared/generated/parley/v1/worker_link.ts';

type Incoming = NonNullable<ConnectResponse['message']>;
type ValueOf<C extends Incoming['$case']> = Extract<Incoming, { $case: C }>['value'];

/** The worker's side of the link by hand: says what it is told to and remembers what it hears. */
export class FakeWorker {
  readonly workerId: string;
  readonly heard: Incoming[] = [];
  readonly held = new Set<string>();
  /** Most sessions ever held at once. */
  mostHeld = 0;
  /** Status code with which the stream ended, null while it lives. */
  endCode: number | null = null;
  answersReserve = true;
  readonly #capacity: number;
  readonly #client: WorkerLinkServiceClient;
  readonly #stream: ClientDuplexStream<ConnectRequest, ConnectResponse>;

  constructor(port: number, options: { workerId?: string; capacity?: number; sayHello?: boolean } = {}) {
    this.workerId = options.workerId ?? 'worker-1';
    this.#capacity = options.capacity ?? 10;
    this.#client = new WorkerLinkServiceClient(`127.0.0.1:${port}`, credentials.createInsecure());
    this.#stream = this.#client.connect();
    this.#stream.on('data', (response: ConnectResponse) => this.#hear(response));
    this.#stream.on('error', () => {});
    this.#stream.on('end', () => this.#stream.end());
    this.#stream.on('status', (status) => {
      this.endCode = status.code;
    });
    if (options.sayHello !== false) this.hello();
  }

  hello(sessionIds: string[] = []): void {
    this.send({
      $case: 'hello',
      value: {
        workerId: this.workerId,
        publicUrl: `http://${this.workerId}.test`,
        capacity: this.#capacity,
        version: 'test',
        sessionIds,
      },
    });
  }

  beat(overrides: Partial<Extract<ConnectRequest['message'], { $case: 'heartbeat' }>['value']> = {}): void {
    this.send({
      $case: 'heartbeat',
      value: {
        capacity: this.#capacity,
        occupied: this.held.size,
        draining: false,
        eventLoopDelayP99Ms: 1,
        tickerLatenessP99Ms: 1,
        sessionIds: [...this.held],
        ...overrides,
      },
    });
  }

  event(sessionId: string, sequence: number): void {
    const event: SessionEvent = {
      sessionId,
      sequence,
      atMs: 0,
      event: { $case: 'timelineItem', value: { itemJson: '{}' } },
    };
    this.send({ $case: 'sessionEvent', value: event });
  }

  send(message: NonNullable<ConnectRequest['message']>): void {
    this.#stream.write({ message });
  }

  /** What was heard of one kind, in order. */
  heardOf<C extends Incoming['$case']>(name: C): ValueOf<C>[] {
    return this.heard.flatMap((message) => (message.$case === name ? [message.value as ValueOf<C>] : []));
  }

  goodbye(): void {
    this.send({ $case: 'goodbye', value: {} });
    this.#stream.end();
  }

  /** Breaks the connection. */
  close(): void {
    this.#stream.cancel();
    this.#client.close();
  }

  #hear({ message }: ConnectResponse): void {
    if (!message) return;
    this.heard.push(message);
    if (message.$case === 'release') this.held.delete(message.value.sessionId);
    if (message.$case === 'reserve' && this.answersReserve) {
      const { requestId, session } = message.value;
      const accepted = session !== undefined && this.held.size < this.#capacity;
      if (accepted) this.held.add(session.sessionId);
      this.mostHeld = Math.max(this.mostHeld, this.held.size);
      this.send({ $case: 'reserveResult', value: { requestId, accepted, refusal: accepted ? '' : 'full' } });
    }
    if (message.$case === 'endSession') {
      const { requestId, sessionId } = message.value;
      this.send({ $case: 'endResult', value: { requestId, found: this.held.delete(sessionId) } });
    }
  }
}
