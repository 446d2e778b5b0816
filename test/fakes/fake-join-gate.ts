import type {
  Admission,
  CallerConnection,
  CallerListener,
  JoinGate,
} from '../../media-worker/transport/caller-connection.ts';
import { Failure } from '../../shared/errors.ts';
import type { ClientEvent } from '../../shared/livekit-events.ts';

export interface HeardAudio {
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
}

/** One session behind the fake gate: keeps what it heard, and the connection for the test to speak through. */
export class FakeSession {
  readonly id: string;
  /** Newest last. Bounded: the oldest audio is forgotten after 10 s. */
  readonly heard: HeardAudio[] = [];
  readonly events: ClientEvent[] = [];
  readonly gone: ('left' | 'lost')[] = [];
  readonly connections: CallerConnection[] = [];
  mediaConnectedCount = 0;
  onMediaConnected: (connection: CallerConnection) => void = () => {};
  onAudio: (audio: HeardAudio, connection: CallerConnection) => void = () => {};

  constructor(id: string) {
    this.id = id;
  }

  get connection(): CallerConnection {
    const newest = this.connections.at(-1);
    if (!newest) throw new Error('Nobody joined');
    return newest;
  }

  attach(connection: CallerConnection): CallerListener {
    this.connections.at(-1)?.close('replaced');
    this.connections.push(connection);
    return {
      onMediaConnected: () => {
        this.mediaConnectedCount += 1;
        this.onMediaConnected(connection);
      },
      onAudio: (samples, sampleRateHz) => {
        this.heard.push({ samples, sampleRateHz });
        if (this.heard.length > 1_000) this.heard.shift();
        this.onAudio({ samples, sampleRateHz }, connection);
      },
      onClientEvent: (event) => this.events.push(event),
      onGone: (how) => this.gone.push(how),
    };
  }
}

/** Lets in by a list of tokens. A token that is not on it is invalid; `expired` has expired. */
export class FakeJoinGate implements JoinGate {
  readonly #sessions = new Map<string, FakeSession>();
  readonly #ended = new Set<string>();

  /** A session that `token` opens. */
  open(token: string): FakeSession {
    const session = new FakeSession(`ses_${token}`);
    this.#sessions.set(token, session);
    return session;
  }

  end(token: string): void {
    this.#ended.add(token);
  }

  async admit(token: string): Promise<Admission> {
    if (token === 'expired') throw new Failure('invalid_token', 'Token expired');
    const session = this.#sessions.get(token);
    if (!session) throw new Failure('invalid_token', 'Invalid token');
    if (this.#ended.has(token)) throw new Failure('not_found', 'Session has ended');
    return {
      sessionId: session.id,
      agentName: 'Test agent',
      callerIdentity: `caller-${token}`,
      callerName: 'Caller',
      attach: (connection) => session.attach(connection),
    };
  }
}
