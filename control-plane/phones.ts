import type { Logger } from '../shared/log.ts';
import type { Clock } from '../shared/time.ts';
import type { ControlPlaneSettings } from './config.ts';
import type { CursorSigner } from './http/cursor-signer.ts';
import { createCallEvents } from './phone/call-events.ts';
import { createCallOnce } from './phone/call-once.ts';
import type { CallSessions } from './phone/call-sessions.ts';
import type { Carrier } from './phone/carrier.ts';
import { createCarrierDesk } from './phone/carrier-desk.ts';
import { createIdempotencyStore } from './phone/idempotency-store.ts';
import { createNumberPurchase, type RentalWallet } from './phone/number-purchase.ts';
import { createOutboundDial } from './phone/outbound-dial.ts';
import { phoneCallRoutes } from './phone/phone-call-routes.ts';
import { createPhoneCallService } from './phone/phone-call-service.ts';
import { createPhoneCallStore } from './phone/phone-call-store.ts';
import { phoneNumberRoutes } from './phone/phone-number-routes.ts';
import { createPhoneNumberService } from './phone/phone-number-service.ts';
import { createPhoneNumberStore } from './phone/phone-number-store.ts';
import { createPhoneSweeper } from './phone/phone-sweeper.ts';
import type { Sealer } from './phone/sip-trunk.ts';
import type { Store } from './storage/collection.ts';

export interface PhonesDeps {
  readonly store: Store;
  readonly cursors: CursorSigner;
  readonly sealer: Sealer;
  /** Null: nothing can be bought or dialled. */
  readonly carrier: Carrier | null;
  readonly wallet: RentalWallet;
  readonly sessions: CallSessions;
  readonly hasAgent: (agentId: string, workspaceId: string) => Promise<boolean>;
  /** Throws for URLs whose host may not be reached. */
  readonly checkUrlSyntax: (url: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: PhoneLimits;
}

export interface PhoneLimits {
  readonly numbersPerTeam: number;
  readonly numberDayMicros: number;
  readonly isOutboundOn: boolean;
  readonly callsAtOnce: number;
  readonly callsPerDay: number;
}

export function phoneLimits(settings: ControlPlaneSettings): PhoneLimits {
  return {
    numbersPerTeam: settings.PARLEY_PHONE_NUMBERS_PER_TEAM,
    numberDayMicros: settings.PARLEY_PRICE_NUMBER_DAY_MICROS,
    isOutboundOn: settings.PARLEY_PHONE_OUTBOUND,
    callsAtOnce: settings.PARLEY_PHONE_CALLS_AT_ONCE,
    callsPerDay: settings.PARLEY_PHONE_CALLS_PER_DAY,
  };
}

/** Phone numbers and phone calls: what the server needs of them. */
export function createPhones(deps: PhonesDeps) {
  const { store, cursors, sealer, carrier, wallet, sessions, hasAgent, clock, log, limits } = deps;
  const numbers = createPhoneNumberStore(store, cursors);
  const calls = createPhoneCallStore(store);
  const requests = createIdempotencyStore(store);
  const desk = createCarrierDesk({ carrier, clock });
  const purchase = createNumberPurchase({ numbers, desk, wallet, clock, log, limits });
  const events = createCallEvents({ calls, sessions, desk, clock, log });
  const outbound = createOutboundDial({ calls, desk, sessions, sealer, clock, log, limits });
  const hasSession = async (sessionId: string) => (await sessions.statusOf(sessionId)) !== null;
  const once = createCallOnce({ requests, hasSession, clock, log });
  const numberService = createPhoneNumberService({
    numbers,
    desk,
    purchase,
    hasAgent,
    hostProblem: (hostAndPort) => problemOf(() => deps.checkUrlSyntax(`http://${hostAndPort}`)),
    sealer,
    clock,
    limits,
  });
  const callService = createPhoneCallService({
    calls,
    numbers,
    desk,
    once,
    sessions,
    outbound,
    clock,
    limits,
  });
  const { numberDayMicros } = limits;
  const sweeper = createPhoneSweeper({
    numbers,
    calls,
    requests,
    purchase,
    wallet,
    clock,
    log,
    numberDayMicros,
  });
  carrier?.listen(events.take);

  return {
    routes: [...phoneNumberRoutes(numberService), ...phoneCallRoutes(callService)],
    sweeper,
    hangUp: events.hangUp,
    /** Sessions whose calls are up or ringing at this process. */
    heldSessions: (): readonly string[] => carrier?.heldCalls() ?? [],
    /** Resolves when what the carrier told so far is written. */
    settled: events.settled,
    async ensureIndexes(): Promise<void> {
      await Promise.all([numbers.ensureIndexes(), calls.ensureIndexes(), requests.ensureIndexes()]);
    },
    /** Leaves calls to the carrier; what it told so far is written. */
    async close(): Promise<void> {
      carrier?.close();
      await events.close();
    },
  };
}

function problemOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch {
    return 'host must be a public one';
  }
}
