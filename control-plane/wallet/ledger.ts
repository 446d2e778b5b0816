import { newId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { EntryKind, LedgerRow, PendingMove, WalletStore } from './wallet-store.ts';

/** Entry ids become field names in the wallet's document. */
const ENTRY_ID = /^[A-Za-z0-9_-]{1,128}$/;
const RECONCILE_BATCH = 100;
/** Bounds one reconciliation while others keep making new moves. */
const RECONCILE_BATCHES = 1_000;

export interface Move {
  /** A second move under the same id changes nothing. */
  readonly entryId: string;
  readonly userId: string;
  readonly workspaceId: string | null;
  readonly kind: EntryKind;
  readonly amountMicros: number;
  /** True: refused when the balance would fall below zero. */
  readonly isConditional: boolean;
}

/**
 * Moves money exactly once per entry id, through crashes and parallel tries, with writes to single documents alone:
 * first balance and pending move in the wallet's document, then the ledger row, whose id is unique, then the pending
 * move goes. The row decides: a try that finds the row of another try takes its own money out again.
 */
export function createLedger(deps: {
  readonly wallets: WalletStore;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const { wallets, clock, log } = deps;

  /** `moved` also when it had been moved before; `refused` when a conditional move found too little. */
  async function move(given: Move): Promise<'moved' | 'refused'> {
    const { entryId, userId, workspaceId, kind, amountMicros, isConditional } = given;
    if (!ENTRY_ID.test(entryId))
      throw new Error('a ledger entry id has characters that no field name may have');
    if (!Number.isSafeInteger(amountMicros))
      throw new Error('an amount of money must be a whole number of micros');
    if (await wallets.findRow(entryId)) return 'moved';
    const pending: PendingMove = { attemptId: newId(), amountMicros, kind, workspaceId, atMs: clock.nowMs() };
    const minimumMicros = isConditional ? -amountMicros : null;
    if (!(await wallets.addPending(userId, entryId, pending, minimumMicros))) {
      const wallet = await wallets.open(userId, clock.nowMs());
      if (wallet.pending[entryId] || (await wallets.findRow(entryId))) return 'moved';
      if (isConditional && wallet.balanceMicros < -amountMicros) return 'refused';
      // The wallet was just opened, or was topped up a moment ago: what stands now decides.
      if (!(await wallets.addPending(userId, entryId, pending, minimumMicros))) {
        const now = await wallets.find(userId);
        return now?.pending[entryId] ? 'moved' : 'refused';
      }
    }
    // The money has moved; a ledger row that can't be written now is written when reconciling.
    await post(userId, entryId, pending).catch((error: unknown) => {
      log.warn(
        { err: error, entryId },
        'a ledger row could not be written; the next reconciliation writes it',
      );
    });
    return 'moved';
  }

  async function post(userId: string, entryId: string, pending: PendingMove): Promise<void> {
    const row: LedgerRow = { _id: entryId, userId, ...pending };
    const standing = await wallets.insertRow(row);
    await wallets.removePending(userId, entryId, pending, standing.attemptId !== pending.attemptId);
  }

  /** Writes the rows that a crash left unwritten. Safe beside running moves and other replicas. Answers how many. */
  async function reconcile(): Promise<number> {
    let count = 0;
    for (let batch = 0; batch < RECONCILE_BATCHES; batch++) {
      const unsettled = await wallets.listUnsettled(RECONCILE_BATCH);
      for (const wallet of unsettled) {
        for (const [entryId, pending] of Object.entries(wallet.pending)) {
          await post(wallet._id, entryId, pending);
          count++;
        }
      }
      if (unsettled.length < RECONCILE_BATCH) break;
    }
    return count;
  }

  return { move, reconcile };
}
export type Ledger = ReturnType<typeof createLedger>;
