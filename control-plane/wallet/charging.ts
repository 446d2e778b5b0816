import { Failure } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import type { Ledger } from './ledger.ts';
import type { WalletStore } from './wallet-store.ts';

export interface ChargingDeps {
  readonly ledger: Ledger;
  readonly wallets: WalletStore;
  /** Whose credit pays for the workspace. Throws `Failure` not_found. */
  readonly payerOf: (workspaceId: string) => Promise<string>;
  readonly log: Logger;
}

const SECONDS_PER_MINUTE = 60;
/** Others may spend the balance between reading and charging it; then it is read again, this often. */
const MAX_TRIES = 8;
const chargeEntry = (chargeId: string) => `charge_${chargeId}`;
const giveBackEntry = (chargeId: string) => `give_back_${chargeId}`;
const usageEntry = (usageId: string) => `usage_${usageId}`;
const settlementEntry = (sessionId: string) => `settlement_${sessionId}`;

/** What calls cost. Every operation may be repeated with the same id without a second effect. */
export function createCharging({ ledger, wallets, payerOf, log }: ChargingDeps) {
  /**
   * Takes the price of one minute in advance, wholly or not at all, and answers the function that gives it back.
   * Throws `Failure` 402 `Out of API credit`. `chargeId` is the session's id, so that `settle` finds the charge.
   */
  async function chargeUpFront(
    workspaceId: string,
    amountMicros: number,
    chargeId: string,
  ): Promise<() => Promise<void>> {
    const userId = await payerOf(workspaceId);
    const outcome = await ledger.move({
      entryId: chargeEntry(chargeId),
      userId,
      workspaceId,
      kind: 'charge',
      amountMicros: -amountMicros,
      // A free call isn't refused to someone in debt.
      isConditional: amountMicros > 0,
    });
    if (outcome === 'refused') throw new Failure('out_of_credit', 'Out of API credit');
    return () => giveBack(chargeId);
  }

  /**
   * Takes the amount, or as much of it as there is; never below zero. Answers what has been taken under this id in
   * all. A charge under an id that took something is not added to later; one that took nothing may be tried again.
   */
  async function chargeWhatIsThere(
    workspaceId: string,
    amountMicros: number,
    chargeId: string,
  ): Promise<number> {
    const userId = await payerOf(workspaceId);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const standing = await wallets.findRow(chargeEntry(chargeId));
      if (standing) return -standing.amountMicros;
      const takenMicros = Math.min(amountMicros, (await wallets.find(userId))?.balanceMicros ?? 0);
      if (takenMicros <= 0) return 0;
      const entryId = chargeEntry(chargeId);
      const outcome = await ledger.move({
        entryId,
        userId,
        workspaceId,
        kind: 'charge',
        amountMicros: -takenMicros,
        isConditional: true,
      });
      // Another replica's charge may be the one that stands.
      if (outcome === 'moved') return -((await wallets.findRow(entryId))?.amountMicros ?? -takenMicros);
    }
    return 0;
  }

  /** Gives an up-front charge back. A charge that was never made is nothing to give back. */
  async function giveBack(chargeId: string): Promise<void> {
    const charge = await findCharge(chargeId);
    if (!charge) return;
    await ledger.move({
      entryId: giveBackEntry(chargeId),
      userId: charge.userId,
      workspaceId: charge.workspaceId,
      kind: 'give_back',
      amountMicros: -charge.amountMicros,
      isConditional: false,
    });
  }

  /**
   * Settles a call per second at the price its minute was charged at: what the first minute didn't use goes back,
   * what went beyond is taken, below zero if it must. Once per session.
   */
  async function settle(sessionId: string, seconds: number): Promise<void> {
    const charge = await findCharge(sessionId);
    if (!charge) {
      log.debug({ sessionId }, 'a session without an up-front charge has nothing to settle');
      return;
    }
    const minuteMicros = -charge.amountMicros;
    const costMicros = Math.ceil((minuteMicros * Math.max(0, Math.ceil(seconds))) / SECONDS_PER_MINUTE);
    const isGivenBack = (await wallets.findRow(giveBackEntry(sessionId))) !== null;
    await ledger.move({
      entryId: settlementEntry(sessionId),
      userId: charge.userId,
      workspaceId: charge.workspaceId,
      kind: 'settlement',
      amountMicros: (isGivenBack ? 0 : minuteMicros) - costMicros,
      isConditional: false,
    });
  }

  /** Takes what has been used already, below zero if it must. Once per `usageId`. */
  async function chargeUsage(workspaceId: string, amountMicros: number, usageId: string): Promise<void> {
    await ledger.move({
      entryId: usageEntry(usageId),
      userId: await payerOf(workspaceId),
      workspaceId,
      kind: 'usage',
      amountMicros: -amountMicros,
      isConditional: false,
    });
  }

  /** Whether nothing is left to pay with. */
  async function isOutOfCredit(workspaceId: string): Promise<boolean> {
    const wallet = await wallets.find(await payerOf(workspaceId));
    return (wallet?.balanceMicros ?? 0) <= 0;
  }

  /** Adds credit (or takes it, when negative) under an id of the administrator's choice. */
  async function addCredit(userId: string, amountMicros: number, creditId: string): Promise<void> {
    await ledger.move({
      entryId: `credit_${creditId}`,
      userId,
      workspaceId: null,
      kind: 'credit',
      amountMicros,
      isConditional: false,
    });
  }

  async function findCharge(chargeId: string) {
    const row = await wallets.findRow(chargeEntry(chargeId));
    if (row) return row;
    // A crash may have come between the charge and its row.
    await ledger.reconcile();
    return wallets.findRow(chargeEntry(chargeId));
  }

  return { chargeUpFront, chargeWhatIsThere, giveBack, settle, addCredit, chargeUsage, isOutOfCredit };
}
