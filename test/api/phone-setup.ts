import { onTestFinished } from 'vitest';
import type { CarrierEvent, DialOutcome } from '../../control-plane/phone/carrier.ts';
import { createPhones, type PhoneLimits } from '../../control-plane/phones.ts';
import { createOutboundSessions } from '../../control-plane/sessions/session-outbound.ts';
import { silentLogger } from '../../shared/log.ts';
import { createOutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import { createSecretBox, parseKeyList } from '../../shared/secret-box.ts';
import { FakeCarrier } from '../fakes/fake-carrier.ts';
import { cursors, type Json, serve } from './agents-setup.ts';
import { setUpSessionApi } from './sessions-setup.ts';

export const NUMBERS = '/v1/agent/phone-numbers';
export const CALLS = '/v1/agent/phone-calls';
export const NUMBER = '+14155550100';
export const PERSON = '+14155550199';
export const DAY_MICROS = 40_000;
export const PHONE_MINUTE_MICROS = 70_000;

const LIMITS: PhoneLimits = {
  numbersPerTeam: 10,
  numberDayMicros: DAY_MICROS,
  isOutboundOn: true,
  callsAtOnce: 10,
  callsPerDay: 200,
};

/** Phone numbers and calls beside agents and sessions, over HTTP, on a carrier that does as it is told. */
export async function setUpPhoneApi(
  options: { creditMicros?: number; limits?: Partial<PhoneLimits>; withoutCarrier?: boolean } = {},
) {
  const { creditMicros = 100_000_000 } = options;
  const api = await setUpSessionApi({ creditMicros });
  const { store, clock, charging, lookup, sessions, transitions } = api;
  const { findAgent, publishedConfig } = lookup;
  const carrier = new FakeCarrier();
  const outgoing = createOutgoingClient({ resolve: async () => [], allowHosts: ['10.0.0.7:5060'] });
  const phones = createPhones({
    store,
    cursors,
    sealer: createSecretBox(parseKeyList(Buffer.alloc(32, 5).toString('base64'))),
    carrier: options.withoutCarrier ? null : carrier,
    wallet: charging,
    sessions: createOutboundSessions({
      sessions,
      transitions,
      wallet: charging,
      findAgent,
      publishedConfig,
      minuteMicros: PHONE_MINUTE_MICROS,
      clock,
    }),
    hasAgent: async (agentId, workspaceId) => (await findAgent(agentId, workspaceId)) !== null,
    checkUrlSyntax: outgoing.checkUrlSyntax,
    limits: { ...LIMITS, ...options.limits },
    clock,
    log: silentLogger,
  });
  await phones.ensureIndexes();
  const { ask: askPhones } = await serve(phones.routes);
  onTestFinished(async () => {
    await phones.close();
    await outgoing.close();
  });

  /** A bought number, changed as given. */
  async function boughtNumber(body: Json = {}, key = 'good'): Promise<string> {
    const reply = await askPhones('POST', NUMBERS, { phone_number: NUMBER, ...body }, { key });
    if (reply.status !== 201) throw new Error(`number not bought: ${JSON.stringify(reply.body)}`);
    return String(reply.body['phone_number_id']);
  }

  /** A published agent, a bought number, and the body of a call between them. */
  async function callable(body: Json = {}): Promise<Json> {
    const agent_id = await api.publishedAgent();
    return { agent_id, phone_number_id: await boughtNumber(), to_number: PERSON, ...body };
  }

  const call = (body: Json, idempotencyKey?: string, key = 'good') =>
    askPhones('POST', CALLS, body, {
      key,
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
    });

  /** Tells of a call; answers its session as it is then. */
  async function tell(event: CarrierEvent): Promise<Json> {
    carrier.tell(event);
    await phones.settled();
    return api.read(event.callId);
  }

  const answer = (callId: string) => tell({ type: 'answered', callId, atMs: clock.nowMs() });
  const end = (callId: string, outcome: DialOutcome) =>
    tell({ type: 'ended', callId, outcome, atMs: clock.nowMs() });

  return { ...api, phones, askPhones, carrier, boughtNumber, callable, call, answer, end };
}
export type PhoneApi = Awaited<ReturnType<typeof setUpPhoneApi>>;
