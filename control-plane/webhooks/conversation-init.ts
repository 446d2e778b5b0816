import { type DynamicVariables, keepValidVariables } from '../../shared/dynamic-variables.ts';
import type { Logger } from '../../shared/log.ts';
import type { OutgoingClient, OutgoingResponse } from '../../shared/outgoing/outgoing-client.ts';
import { OutgoingError } from '../../shared/outgoing/outgoing-error.ts';
import type { Clock } from '../../shared/time.ts';
import { SIGNATURE_HEADER, signatureOf } from './webhook-signature.ts';

/** 50 variables of 1,000 characters fit several times; a longer answer is not read. */
const MAX_ANSWER_BYTES = 512 * 1024;
const USER_AGENT = 'Parley-Webhooks/1';

/** `webhooks.conversation_init` of the published version. */
export interface InitEndpoint {
  readonly url: string;
  /** Signing key in stored form. */
  readonly secret: string | null;
  readonly timeout_seconds: number;
}

export interface InboundCall {
  /** E.164; empty when the carrier withholds it. */
  readonly callerNumber: string;
  readonly dialedNumber: string;
  readonly agentId: string;
  readonly phoneNumberId: string;
  /** Empty when the call didn't come through a carrier. */
  readonly carrierCallSid: string;
}

export interface ConversationInitDeps {
  readonly outgoing: Pick<OutgoingClient, 'request'>;
  /** A signing key in the clear. Throws when it can't be opened. */
  readonly openSecret: (agentId: string, stored: string) => string;
  readonly clock: Clock;
  readonly log: Logger;
}

type Outcome = 'answered' | 'worth_a_retry' | 'given_up';

/** Asks a team's server for the prompt variables of an inbound call. */
export function createConversationInit(deps: ConversationInitDeps) {
  const { outgoing, openSecret, clock, log } = deps;

  /**
   * The variables for the call, within the endpoint's time-out and without ever failing: a call is never blocked. A
   * refused connection or an answer that isn't 2xx is asked again once at once, within the same time-out; silence is
   * not. Entries that break a rule are left out one by one.
   */
  async function ask(
    endpoint: InitEndpoint,
    call: InboundCall,
    signal?: AbortSignal,
  ): Promise<DynamicVariables> {
    const dueMs = clock.monotonicMs() + endpoint.timeout_seconds * 1000;
    for (let tries = 1; tries <= 2; tries++) {
      const { outcome, variables } = await tryOnce(endpoint, call, dueMs, signal);
      if (outcome === 'answered') return variables;
      if (outcome === 'given_up') break;
    }
    log.warn({ agentId: call.agentId }, 'inbound call goes on without variables from its webhook');
    return {};
  }

  async function tryOnce(endpoint: InitEndpoint, call: InboundCall, dueMs: number, signal?: AbortSignal) {
    const deadlineMs = Math.ceil(dueMs - clock.monotonicMs());
    if (deadlineMs <= 0) return outcomeOf('given_up');
    try {
      const body = Buffer.from(requestBody(call));
      const answer = await outgoing.request({
        url: endpoint.url,
        method: 'POST',
        headers: headersOf(endpoint, call.agentId, body),
        body,
        deadlineMs,
        maxBytes: MAX_ANSWER_BYTES,
        maxRedirects: 0,
        ...(signal ? { signal } : {}),
      });
      if (answer.status < 200 || answer.status > 299) return outcomeOf('worth_a_retry');
      return outcomeOf('answered', readVariables(answer));
    } catch (err) {
      if (!(err instanceof OutgoingError))
        log.error({ err, agentId: call.agentId }, 'inbound webhook not sent');
      const isWorthIt = err instanceof OutgoingError && err.code === 'connect_failed';
      return outcomeOf(isWorthIt ? 'worth_a_retry' : 'given_up');
    }
  }

  function headersOf(endpoint: InitEndpoint, agentId: string, body: Uint8Array): Record<string, string> {
    const headers = { 'content-type': 'application/json', 'user-agent': USER_AGENT };
    if (endpoint.secret === null) return headers;
    const signature = signatureOf(openSecret(agentId, endpoint.secret), body, clock.nowMs());
    return { ...headers, [SIGNATURE_HEADER]: signature };
  }

  return { ask };
}

function outcomeOf(outcome: Outcome, variables: DynamicVariables = {}) {
  return { outcome, variables };
}

function requestBody(call: InboundCall): string {
  return JSON.stringify({
    event: 'call.inbound',
    call: {
      caller_number: call.callerNumber,
      dialed_number: call.dialedNumber,
      agent_id: call.agentId,
      phone_number_id: call.phoneNumberId,
      carrier_call_sid: call.carrierCallSid,
    },
  });
}

/** An answer without usable variables is an answer: the call goes on with none. */
function readVariables({ body, isTruncated }: OutgoingResponse): DynamicVariables {
  if (isTruncated) return {};
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'));
    if (!isRecord(answer) || !isRecord(answer['dynamic_variables'])) return {};
    return keepValidVariables(answer['dynamic_variables']);
  } catch {
    return {};
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
