import { createHash } from 'node:crypto';
import { Failure } from '../../shared/errors.ts';
import { newId, newSessionId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { IdempotencyStore, KeyedRequest } from './idempotency-store.ts';
import type { PhoneCall } from './phone-call-schema.ts';

/** How long a key remembers its call. */
export const KEY_WINDOW_MS = 24 * 3_600_000;
/** A request still unfinished after this has lost its process; requests take 30 s at most. */
const ABANDONED_MS = 60_000;
const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

export interface CallOnceDeps {
  readonly requests: IdempotencyStore;
  readonly hasSession: (sessionId: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Makes one call per idempotency key: the same body again answers the same call, another body is 422, and a request that
 * is still running is 409. A refusal frees its key, as nothing has happened.
 */
export function createCallOnce({ requests, hasSession, clock, log }: CallOnceDeps) {
  /** `make` makes the call under the session id it is given. `key` null: just makes it. */
  async function once(
    workspaceId: string,
    key: string | null,
    body: unknown,
    make: (sessionId: string) => Promise<void>,
  ): Promise<PhoneCall> {
    const nowMs = clock.nowMs();
    const sessionId = newSessionId(nowMs);
    if (key === null) {
      await make(sessionId);
      return queued(sessionId);
    }
    if (!KEY.test(key)) {
      throw new Failure('bad_request', 'Idempotency-Key must be 1 to 255 printable ASCII characters');
    }
    const request: KeyedRequest = {
      _id: `${workspaceId}:${sha256(key)}`,
      attemptId: newId(),
      bodyHash: sha256(canonicalJson(body)),
      sessionId,
      isDone: false,
      createdAtMs: nowMs,
    };
    const standing = await requests.claim(request, nowMs - KEY_WINDOW_MS);
    const earlier = standing && (await answerOf(standing, request));
    if (earlier !== null) return queued(earlier);
    await makeUnder(request, make);
    return queued(sessionId);
  }

  /** The session of the request that holds the key, or null when the key has been taken over from a lost one. */
  async function answerOf(standing: KeyedRequest, request: KeyedRequest): Promise<string | null> {
    if (standing.bodyHash !== request.bodyHash) {
      throw new Failure('unprocessable', 'Idempotency-Key was used with another body', {
        reason: 'idempotency_key_reuse',
      });
    }
    if (standing.isDone) return standing.sessionId;
    const isAbandoned = standing.createdAtMs <= request.createdAtMs - ABANDONED_MS;
    if (isAbandoned && (await hasSession(standing.sessionId))) return standing.sessionId;
    if (isAbandoned && (await requests.takeOver(standing, request))) return null;
    throw new Failure('conflict', 'A request with this Idempotency-Key is still running', {
      reason: 'idempotency_key_conflict',
    });
  }

  async function makeUnder(request: KeyedRequest, make: (sessionId: string) => Promise<void>): Promise<void> {
    try {
      await make(request.sessionId);
    } catch (error) {
      // After anything but a refusal the call may have been made: the key stays and tells later.
      if (error instanceof Failure) await requests.remove(request);
      throw error;
    }
    await requests.finish(request).catch((err: unknown) => {
      log.warn(
        { err, sessionId: request.sessionId },
        'an idempotency key is not finished; its session tells',
      );
    });
  }

  return once;
}
export type CallOnce = ReturnType<typeof createCallOnce>;

function queued(sessionId: string): PhoneCall {
  return { session_id: sessionId, status: 'queued' };
}

/** JSON with the keys of every object in one order: bodies that mean the same are the same text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
