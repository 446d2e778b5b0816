import { type Document, DuplicateKeyError, type Store } from '../storage/collection.ts';

/** A movement of money that is in the balance and whose ledger row may not be written yet. */
export interface PendingMove {
  /** Tells two tries of the same entry apart. */
  readonly attemptId: string;
  readonly amountMicros: number;
  readonly kind: EntryKind;
  readonly workspaceId: string | null;
  readonly atMs: number;
}

export type EntryKind = 'charge' | 'give_back' | 'settlement' | 'usage' | 'credit';

/** One user's money. `balanceMicros` is the sum of its ledger rows and its pending moves. */
export interface WalletDoc extends Document {
  readonly balanceMicros: number;
  readonly cumulativeTopUpMicros: number;
  /** By ledger entry id. Rarely more than a few at once. */
  readonly pending: Readonly<Record<string, PendingMove>>;
  readonly pendingCount: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Written once, never changed. Positive amounts add to the balance. */
export interface LedgerRow extends Document, PendingMove {
  readonly userId: string;
}

/** Wallets and their ledger. */
export function createWalletStore(store: Store) {
  const wallets = store.collection<WalletDoc>('wallets');
  const ledger = store.collection<LedgerRow>('wallet_ledger');

  /** The user's wallet, opened empty when there is none. */
  async function open(userId: string, nowMs: number): Promise<WalletDoc> {
    const wallet = await wallets.findOne({ _id: userId });
    if (wallet) return wallet;
    const empty: WalletDoc = {
      _id: userId,
      balanceMicros: 0,
      cumulativeTopUpMicros: 0,
      pending: {},
      pendingCount: 0,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    try {
      await wallets.insertOne(empty);
      return empty;
    } catch (error) {
      // Opened by someone else a moment ago.
      const standing = error instanceof DuplicateKeyError ? await wallets.findOne({ _id: userId }) : null;
      if (!standing) throw error;
      return standing;
    }
  }

  /** Balance and pending move in one write; false when `minimumMicros` isn't there or the entry is already pending. */
  async function addPending(
    userId: string,
    entryId: string,
    move: PendingMove,
    minimumMicros: number | null,
  ): Promise<boolean> {
    const topUp = move.kind === 'credit' && move.amountMicros > 0 ? move.amountMicros : 0;
    const matched = await wallets.updateOne(
      {
        _id: userId,
        [`pending.${entryId}`]: { $exists: false },
        ...(minimumMicros === null ? {} : { balanceMicros: { $gte: minimumMicros } }),
      },
      {
        $inc: { balanceMicros: move.amountMicros, pendingCount: 1, cumulativeTopUpMicros: topUp },
        $set: { [`pending.${entryId}`]: move },
        $max: { updatedAtMs: move.atMs },
      },
    );
    return matched > 0;
  }

  /** Ends a pending move: its money stays (`undo` false) or goes back. A move that is gone stays gone. */
  async function removePending(
    userId: string,
    entryId: string,
    move: PendingMove,
    undo: boolean,
  ): Promise<void> {
    const topUp = move.kind === 'credit' && move.amountMicros > 0 ? move.amountMicros : 0;
    await wallets.updateOne(
      { _id: userId, [`pending.${entryId}.attemptId`]: move.attemptId },
      {
        $inc: {
          pendingCount: -1,
          ...(undo ? { balanceMicros: -move.amountMicros, cumulativeTopUpMicros: -topUp } : {}),
        },
        $unset: { [`pending.${entryId}`]: '' },
      },
    );
  }

  /** The row that stands under this id: this one, or the one that was there before. */
  async function insertRow(row: LedgerRow): Promise<LedgerRow> {
    try {
      await ledger.insertOne(row);
      return row;
    } catch (error) {
      if (!(error instanceof DuplicateKeyError)) throw error;
      const standing = await ledger.findOne({ _id: row._id });
      if (!standing) throw error;
      return standing;
    }
  }

  return {
    open,
    addPending,
    removePending,
    insertRow,
    find: (userId: string) => wallets.findOne({ _id: userId }),
    findRow: (entryId: string) => ledger.findOne({ _id: entryId }),
    listRows: (userId: string) => ledger.find({ userId }),
    listUnsettled: (limit: number) => wallets.find({ pendingCount: { $gt: 0 } }, { limit }),
    async ensureIndexes(): Promise<void> {
      await wallets.createIndex({ pendingCount: 1 });
      await ledger.createIndex({ userId: 1, atMs: 1 });
    },
  };
}
export type WalletStore = ReturnType<typeof createWalletStore>;
