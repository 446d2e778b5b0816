import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import { KEY_WINDOW_MS } from './call-once.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import { type NumberPurchase, type RentalWallet, rentalId, utcDay } from './number-purchase.ts';
import type { PhoneCallStore } from './phone-call-store.ts';
import type { PhoneNumberDoc, PhoneNumberStore } from './phone-number-store.ts';

export interface PhoneSweeperDeps {
  readonly numbers: PhoneNumberStore;
  readonly calls: Pick<PhoneCallStore, 'removeDaysBefore'>;
  readonly requests: Pick<IdempotencyStore, 'removeBefore'>;
  readonly purchase: Pick<NumberPurchase, 'giveUp' | 'refund'>;
  readonly wallet: Pick<RentalWallet, 'chargeWhatIsThere'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly numberDayMicros: number;
}

const SWEEP_INTERVAL_MS = 60_000;
const FIRST_SWEEP_MS = 5_000;
/** A purchase takes a few seconds; one older than this has lost its process. */
const UNFINISHED_MS = 120_000;
const DAY_MS = 86_400_000;
const BATCH = 200;

/** Takes the daily rental and finishes what a lost process began. Any number of replicas may sweep at once. */
export function createPhoneSweeper(deps: PhoneSweeperDeps) {
  const { numbers, purchase, wallet, clock, log } = deps;

  /** Sweeps until `signal` aborts. */
  async function run(signal: AbortSignal): Promise<void> {
    await clock.sleep(FIRST_SWEEP_MS, signal);
    while (!signal.aborted) {
      await sweep().catch((err) => log.warn({ err }, 'phone numbers could not be swept and will be again'));
      await clock.sleep(SWEEP_INTERVAL_MS, signal);
    }
  }

  async function sweep(): Promise<void> {
    await finishPurchases();
    await takeRentals();
    await deps.requests.removeBefore(clock.nowMs() - KEY_WINDOW_MS);
    await deps.calls.removeDaysBefore(utcDay(clock.nowMs() - DAY_MS));
  }

  async function finishPurchases(): Promise<void> {
    for (const number of await numbers.listUnfinished(clock.nowMs() - UNFINISHED_MS, BATCH)) {
      const chargeId = rentalId(number._id, number.rentalDay ?? utcDay(number.createdAtMs));
      await purchase.giveUp(number._id, chargeId, 'The purchase was interrupted', true);
    }
    for (const { _id, refundDue } of await numbers.listRefundDue(BATCH)) {
      if (refundDue !== null) await purchase.refund(_id, refundDue);
    }
  }

  /** Charges every rented number once for today. Days on which nobody swept are not charged afterwards. */
  async function takeRentals(): Promise<void> {
    const day = utcDay(clock.nowMs());
    let afterId = '';
    for (;;) {
      const due = await numbers.listRentDue(day, afterId, BATCH);
      for (const number of due) {
        await takeRental(number, day).catch((err) => {
          log.warn({ err, phoneNumberId: number._id }, 'a rental could not be taken and will be tried again');
        });
      }
      const last = due.at(-1);
      if (!last || due.length < BATCH) return;
      afterId = last._id;
    }
  }

  /** What there is is taken. A number of which nothing could be paid is tried again until the day ends. */
  async function takeRental(number: PhoneNumberDoc, day: string): Promise<void> {
    const { _id, workspaceId, statusDetail } = number;
    const priceMicros = deps.numberDayMicros;
    const takenMicros = await wallet.chargeWhatIsThere(workspaceId, priceMicros, rentalId(_id, day));
    if (takenMicros >= priceMicros) return void (await numbers.noteRental(_id, day, ''));
    const detail = `Rental of ${day} is ${takenMicros > 0 ? 'paid only in part' : 'not paid'}: out of API credit`;
    if (takenMicros > 0) return void (await numbers.noteRental(_id, day, detail));
    if (detail !== statusDetail) await numbers.noteRental(_id, null, detail);
  }

  return { run, sweep };
}
