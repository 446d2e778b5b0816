import { Failure } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { type Clock, toIso } from '../../shared/time.ts';
import { type CarrierDesk, isWithoutEffect } from './carrier-desk.ts';
import type { PhoneNumberDoc, PhoneNumberStore } from './phone-number-store.ts';

/** Money for rented numbers. Each function may be called again under the same id and counts once. */
export interface RentalWallet {
  /** Takes the whole amount, never below zero. Throws `Failure` 402. */
  readonly chargeUpFront: (workspaceId: string, amountMicros: number, chargeId: string) => Promise<unknown>;
  readonly giveBack: (chargeId: string) => Promise<unknown>;
  /** Takes what there is of the amount; answers what was taken under this id in all. */
  readonly chargeWhatIsThere: (
    workspaceId: string,
    amountMicros: number,
    chargeId: string,
  ) => Promise<number>;
}

export interface NumberPurchaseDeps {
  readonly numbers: PhoneNumberStore;
  readonly desk: CarrierDesk;
  readonly wallet: RentalWallet;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: { readonly numbersPerTeam: number; readonly numberDayMicros: number };
}

/** The UTC day that holds `atMs`, as `2026-01-31`. */
export function utcDay(atMs: number): string {
  return toIso(atMs).slice(0, 10);
}

/** One day's rental of one number is charged under one id, whoever charges it. */
export function rentalId(numberId: string, day: string): string {
  return `number_${numberId}_${day}`;
}

/** Throws 403 for a team that has all it may have and 409 for a number that somebody has. */
export async function claimNumber(
  numbers: Pick<PhoneNumberStore, 'claim'>,
  doc: PhoneNumberDoc,
  limit: number,
): Promise<void> {
  const outcome = await numbers.claim(doc, limit);
  if (outcome === 'full') {
    throw new Failure('forbidden', `Phone number limit reached for this team (${limit})`);
  }
  if (outcome === 'held') throw new Failure('conflict', 'This number is already on the platform');
}

/**
 * Buys numbers. The row comes first, so that a crash at any point leaves something that the sweeper can finish; then
 * the first day is charged, and only then is the carrier asked.
 */
export function createNumberPurchase(deps: NumberPurchaseDeps) {
  const { numbers, desk, wallet, clock, log, limits } = deps;

  /**
   * Throws 403, 409, 402 and leaves nothing; throws 502 or 503 when the carrier didn't sell, and leaves the row with
   * status `error` and the charge given back.
   */
  async function buy(doc: PhoneNumberDoc): Promise<PhoneNumberDoc> {
    desk.carrier();
    const day = utcDay(clock.nowMs());
    const chargeId = rentalId(doc._id, day);
    await claimNumber(numbers, { ...doc, rentalDay: day, mayBeOurs: true }, limits.numbersPerTeam);
    try {
      await wallet.chargeUpFront(doc.workspaceId, limits.numberDayMicros, chargeId);
    } catch (error) {
      // After a refusal nothing was taken. After anything else that isn't known, and the row must stay to tell.
      if (error instanceof Failure) await numbers.remove(doc._id);
      throw error;
    }
    try {
      await desk.ask((carrier) => carrier.buyNumber(doc.phoneNumber));
    } catch (error) {
      const detail = error instanceof Failure ? error.message : 'The purchase failed';
      await giveUp(doc._id, chargeId, detail, !isWithoutEffect(error));
      throw error;
    }
    const active = await numbers.activate(doc._id, clock.nowMs());
    if (!active) throw new Failure('upstream_failed', 'The purchase took too long and was given up');
    log.info({ phoneNumberId: doc._id }, 'a phone number was bought');
    return active;
  }

  async function giveUp(
    numberId: string,
    chargeId: string,
    detail: string,
    mayBeOurs: boolean,
  ): Promise<void> {
    try {
      if (!(await numbers.fail(numberId, { detail, refundDue: chargeId, mayBeOurs }, clock.nowMs()))) return;
      await refund(numberId, chargeId);
    } catch (err) {
      log.warn({ err, phoneNumberId: numberId }, 'a failed purchase is not given back yet and will be');
    }
  }

  async function refund(numberId: string, chargeId: string): Promise<void> {
    await wallet.giveBack(chargeId);
    await numbers.clearRefund(numberId);
  }

  return { buy, giveUp, refund };
}
export type NumberPurchase = ReturnType<typeof createNumberPurchase>;
