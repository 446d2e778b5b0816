import { Failure } from '../../shared/errors.ts';
import type { SessionSpec } from '../../shared/generated/parley/v1/worker_link.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { Admission, JoinGate } from '../transport/caller-connection.ts';
import type { EndReason } from '../turn/turn-event.ts';
import type { Session } from './session.ts';

export interface JoinClaims {
  readonly sessionId: string;
  readonly identity: string;
  readonly name: string;
}

export interface SessionRegistryDeps {
  /** Throws `Failure('invalid_token')`. */
  readonly verifyToken: (token: string) => Promise<JoinClaims>;
  readonly openSession: (spec: SessionSpec, onEnded: () => void) => Promise<Session>;
  /** The session's slot can be given to another one, once its events are stored. */
  readonly onGone: (sessionId: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Held {
  readonly spec: SessionSpec;
  /** Made at the first join, so that a session nobody joins costs nothing. */
  session: Promise<Session> | null;
  readonly expiry: AbortController;
}

/** Ended sessions whose token is refused with a clear word instead of "unknown"; the oldest are forgotten. */
const REMEMBERED_ENDED = 1_000;

/** The sessions of this worker, from reservation to their end; says who may join which. */
export class SessionRegistry implements JoinGate {
  readonly #deps: SessionRegistryDeps;
  readonly #held = new Map<string, Held>();
  readonly #ended = new Set<string>();

  constructor(deps: SessionRegistryDeps) {
    this.#deps = deps;
  }

  get sessionIds(): string[] {
    return [...this.#held.keys()];
  }

  /** Holds a place for the session until it is joined, released or its join deadline passes. */
  reserve(spec: SessionSpec): void {
    const expiry = new AbortController();
    this.#held.set(spec.sessionId, { spec, session: null, expiry });
    const waitMs = Math.max(0, spec.joinDeadlineMs - this.#deps.clock.nowMs());
    void this.#deps.clock.sleep(waitMs, expiry.signal).then(() => {
      if (!expiry.signal.aborted) this.#expire(spec.sessionId);
    });
  }

  /** Gives up a session that nobody joined. One that was joined is left alone. */
  release(sessionId: string): void {
    void this.#withSession(sessionId, (session) => {
      if (!session?.hasJoined) this.#forget(sessionId);
    });
  }

  /** Ends a session; answers whether this worker held it. */
  end(sessionId: string, endReason: EndReason): boolean {
    if (!this.#held.has(sessionId)) return false;
    void this.#withSession(sessionId, (session) => {
      if (session?.hasJoined) session.end(endReason);
      else this.#forget(sessionId);
    });
    return true;
  }

  async admit(token: string): Promise<Admission> {
    const claims = await this.#deps.verifyToken(token);
    const held = this.#held.get(claims.sessionId);
    if (!held)
      throw new Failure(
        'not_found',
        this.#ended.has(claims.sessionId) ? 'Session has ended' : 'Session not found',
      );
    held.session ??= this.#deps.openSession(held.spec, () => this.#forget(claims.sessionId));
    const session = await held.session.catch((cause: unknown) => {
      held.session = null;
      throw cause instanceof Failure ? cause : new Failure('unavailable', 'Agent is not ready', { cause });
    });
    if (session.hasEnded) throw new Failure('not_found', 'Session has ended');
    return {
      sessionId: claims.sessionId,
      agentName: held.spec.agentName,
      callerIdentity: claims.identity,
      callerName: claims.name,
      attach: (connection) => session.attach(connection),
    };
  }

  /** Ends every session; those in a call are told why. */
  endAll(endReason: EndReason): void {
    for (const sessionId of this.sessionIds) this.end(sessionId, endReason);
  }

  #expire(sessionId: string): void {
    void this.#withSession(sessionId, (session) => {
      if (session?.hasJoined) return;
      this.#deps.log.info({ sessionId }, 'session was not joined in time');
      this.#forget(sessionId);
    });
  }

  async #withSession(sessionId: string, use: (session: Session | null) => void): Promise<void> {
    const held = this.#held.get(sessionId);
    if (!held) return;
    // A session that could not be opened is as good as never joined.
    use(held.session ? await held.session.catch(() => null) : null);
  }

  #forget(sessionId: string): void {
    const held = this.#held.get(sessionId);
    if (!held) return;
    held.expiry.abort();
    void held.session?.then(
      (session) => session.dispose(),
      () => {},
    );
    this.#held.delete(sessionId);
    this.#ended.add(sessionId);
    const oldest = this.#ended.values().next().value;
    if (this.#ended.size > REMEMBERED_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    this.#deps.onGone(sessionId);
  }
}
