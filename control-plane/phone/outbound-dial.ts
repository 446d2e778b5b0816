import { Failure } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { CallSessions, PreparedCall } from './call-sessions.ts';
import type { DialSpec } from './carrier.ts';
import { type CarrierDesk, isWithoutEffect } from './carrier-desk.ts';
import type { CreatePhoneCallBody } from './phone-call-schema.ts';
import type { PhoneCallStore } from './phone-call-store.ts';
import type { PhoneNumberDoc } from './phone-number-store.ts';
import { refusal } from './refusal.ts';
import { type Sealer, toDialTrunk } from './sip-trunk.ts';

export interface OutboundDialDeps {
  readonly calls: PhoneCallStore;
  readonly desk: CarrierDesk;
  readonly sessions: CallSessions;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: { readonly callsAtOnce: number };
}

/** A call that has passed its checks. */
export interface OutboundCall {
  readonly body: CreatePhoneCallBody;
  readonly number: PhoneNumberDoc;
  readonly to: string;
  readonly sessionId: string;
  readonly prepared: PreparedCall;
}

const RING_TIMEOUT_S = 60;
/** Without news of a dial for this long after the ringing must have ended, it counts as failed. */
const NEWS_GRACE_MS = 30_000;
/** A call is recorded a moment before its session. */
const SESSION_GRACE_MS = 60_000;

/** Takes a checked call to the carrier: a place among the team's calls, then record and charge, then the dial. */
export function createOutboundDial(deps: OutboundDialDeps) {
  const { calls, desk, sessions, clock, limits } = deps;

  /** Throws 429, 402, 502 and 503, and leaves nothing then. */
  async function place(call: OutboundCall): Promise<void> {
    const spec = dialSpec(call);
    await takePlace(call);
    await startSession(call);
    await dial(spec);
  }

  function dialSpec({ body, number, to, sessionId, prepared }: OutboundCall): DialSpec {
    return {
      callId: sessionId,
      to,
      from: number.phoneNumber,
      ringTimeoutS: RING_TIMEOUT_S,
      maxDurationS: prepared.maxDurationS,
      provider: number.provider,
      trunk: number.trunk && toDialTrunk(number.trunk, number._id, deps.sealer),
      headers: { ...number.trunk?.headers, ...body.sip_headers },
    };
  }

  async function takePlace({ body, number, sessionId }: OutboundCall): Promise<void> {
    const { _id: phoneNumberId, workspaceId } = number;
    const doc = {
      _id: sessionId,
      workspaceId,
      phoneNumberId,
      createdAtMs: clock.nowMs(),
      requestJson: JSON.stringify(body),
    };
    if (await calls.claim(doc, limits.callsAtOnce)) return;
    if ((await freeEnded(workspaceId)) && (await calls.claim(doc, limits.callsAtOnce))) return;
    const message = `At most ${limits.callsAtOnce} outbound calls may be up at once`;
    throw refusal('rate_limited', message, 'concurrency_limit_exceeded');
  }

  /** Frees places of calls whose end the carrier never told. True when there were any. */
  async function freeEnded(workspaceId: string): Promise<boolean> {
    const unrecordedBeforeMs = clock.nowMs() - SESSION_GRACE_MS;
    let isFreed = false;
    for (const { _id, createdAtMs } of await calls.listLive(workspaceId)) {
      const status = await sessions.statusOf(_id);
      const isLost = status === null && createdAtMs < unrecordedBeforeMs;
      if (!isLost && status !== 'completed' && status !== 'failed') continue;
      await calls.remove(_id);
      isFreed = true;
    }
    return isFreed;
  }

  async function startSession({ body, number, to, sessionId, prepared }: OutboundCall): Promise<void> {
    const dialDeadlineMs = clock.nowMs() + RING_TIMEOUT_S * 1000 + NEWS_GRACE_MS;
    const dialedNumber = number.phoneNumber;
    try {
      await prepared.start({ sessionId, callerNumber: to, dialedNumber, dialDeadlineMs }, body);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      await calls.remove(sessionId);
      if (error.kind !== 'out_of_credit') throw error;
      throw refusal('out_of_credit', error.message, 'insufficient_credit');
    }
  }

  async function dial(spec: DialSpec): Promise<void> {
    try {
      await desk.ask((carrier) => carrier.dial(spec));
    } catch (err) {
      if (!isWithoutEffect(err)) {
        // The phone may be ringing. Dialling again could ring it twice, so the call stands until news comes.
        const sessionId = spec.callId;
        deps.log.warn({ err, sessionId }, 'it is not known whether the carrier is dialling');
        return;
      }
      await undo(spec.callId);
      throw err;
    }
  }

  async function undo(sessionId: string): Promise<void> {
    try {
      await sessions.undo(sessionId);
      await calls.remove(sessionId);
    } catch (err) {
      deps.log.warn({ err, sessionId }, 'a call that was not made runs out at its dial deadline');
    }
  }

  return { place };
}
export type OutboundDial = ReturnType<typeof createOutboundDial>;
