import { Failure } from '../../shared/errors.ts';
import type { Clock } from '../../shared/time.ts';
import type { KeyCaller } from '../http/route.ts';
import type { CallOnce } from './call-once.ts';
import type { CallSessions, PreparedCall } from './call-sessions.ts';
import type { CarrierDesk } from './carrier-desk.ts';
import { type DestinationProblem, destinationProblem, readE164 } from './destination.ts';
import { utcDay } from './number-purchase.ts';
import type { OutboundDial } from './outbound-dial.ts';
import type { CreatePhoneCallBody, PhoneCall } from './phone-call-schema.ts';
import type { PhoneCallStore } from './phone-call-store.ts';
import type { PhoneNumberDoc, PhoneNumberStore } from './phone-number-store.ts';
import { refusal } from './refusal.ts';

export interface PhoneCallServiceDeps {
  readonly calls: PhoneCallStore;
  readonly numbers: PhoneNumberStore;
  readonly desk: CarrierDesk;
  readonly once: CallOnce;
  readonly sessions: CallSessions;
  readonly outbound: OutboundDial;
  readonly clock: Clock;
  readonly limits: { readonly isOutboundOn: boolean; readonly callsPerDay: number };
}

const DAY_MS = 86_400_000;

const PROBLEMS: Readonly<Record<DestinationProblem, string>> = {
  destination_invalid: 'to_number must be a phone number in E.164 form',
  destination_not_allowed: 'Calls to this country are not supported',
  premium_destination_blocked: 'Calls to premium-rate numbers are blocked',
};

/** Calls people. Every refusal of its own carries a `reason`. */
export function createPhoneCallService(deps: PhoneCallServiceDeps) {
  const { calls, numbers, desk, sessions, outbound, clock, limits } = deps;

  /** Resolves when the carrier has taken the call on; the session tells what becomes of it. */
  function create(body: CreatePhoneCallBody, key: string | null, caller: KeyCaller): Promise<PhoneCall> {
    const { workspaceId } = caller;
    return deps.once(workspaceId, key, body, (sessionId) => call(body, workspaceId, sessionId));
  }

  async function call(body: CreatePhoneCallBody, workspaceId: string, sessionId: string): Promise<void> {
    const nowMs = clock.nowMs();
    // Refused tries count too, whatever they are refused for.
    const triesToday = await calls.countTry(workspaceId, utcDay(nowMs));
    if (!limits.isOutboundOn) throw refusal('forbidden', 'Outbound calls are disabled', 'outbound_disabled');
    const prepared = await preparedCall(body.agent_id, workspaceId);
    const number = await callingNumber(body.phone_number_id, workspaceId);
    const to = await destination(body.to_number, number);
    prepared.refuseUnfit(body);
    if (triesToday > limits.callsPerDay) {
      const retryAfterS = Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000);
      const message = `At most ${limits.callsPerDay} outbound calls may be made per day`;
      throw new Failure('rate_limited', message, { reason: 'daily_limit_exceeded', retryAfterS });
    }
    await outbound.place({ body, number, to, sessionId, prepared });
  }

  async function preparedCall(agentId: string, workspaceId: string): Promise<PreparedCall> {
    const prepared = await sessions.prepare(agentId, workspaceId);
    if (prepared === 'agent_not_found') throw refusal('not_found', 'Agent not found', prepared);
    if (prepared === 'agent_not_published') {
      throw refusal('conflict', 'Agent has no published version', prepared);
    }
    return prepared;
  }

  async function callingNumber(numberId: string, workspaceId: string): Promise<PhoneNumberDoc> {
    const number = await numbers.find(numberId, workspaceId);
    if (!number) throw refusal('not_found', 'Phone number not found', 'number_not_found');
    if (number.status !== 'active') {
      throw refusal('unprocessable', 'Phone number is not active', 'number_inactive');
    }
    if (!desk.carrier().dialsFrom.includes(number.provider)) {
      const message = 'Calls can’t be made from numbers of this provider';
      throw refusal('unprocessable', message, 'number_provider_unsupported');
    }
    if (number.trunk && number.trunk.terminationUri === null) {
      const message = 'Phone number has no termination_uri to send calls to';
      throw refusal('unprocessable', message, 'number_termination_missing');
    }
    return number;
  }

  /** The number to dial. Own trunks may call anywhere; rented numbers call where the platform lets them. */
  async function destination(text: string, from: PhoneNumberDoc): Promise<string> {
    const to = readE164(text);
    const problem = to === null || from.provider === 'sip' ? null : destinationProblem(to);
    if (to === null || problem !== null) {
      const reason = problem ?? 'destination_invalid';
      throw refusal('unprocessable', PROBLEMS[reason], reason);
    }
    const held = await numbers.findHeld(to);
    if (held?.workspaceId === from.workspaceId) {
      throw refusal('unprocessable', 'A team can’t call its own numbers', 'self_call_blocked');
    }
    return to;
  }

  return { create };
}
export type PhoneCallService = ReturnType<typeof createPhoneCallService>;
