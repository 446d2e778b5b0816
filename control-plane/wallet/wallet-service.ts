import { Failure } from '../../shared/errors.ts';
import { type Clock, toIso } from '../../shared/time.ts';
import type { KeyCaller } from '../http/route.ts';
import { formatMicros } from './micros.ts';
import type { ApiCredit, ApiCreditQuery, WalletPackage } from './wallet-schema.ts';
import type { WalletStore } from './wallet-store.ts';

/** A package that nobody bought doesn't end. */
const NEVER_ENDS = '9999-12-31T23:59:59.999Z';

export interface WalletServiceDeps {
  readonly wallets: WalletStore;
  /** Whose credit pays for the workspace. Throws `Failure` not_found. */
  readonly payerOf: (workspaceId: string) => Promise<string>;
  readonly clock: Clock;
}

/** What callers may see of their money. Somebody else's wallet answers like a missing one. */
export function createWalletService({ wallets, payerOf, clock }: WalletServiceDeps) {
  async function getPackage(userId: string, caller: KeyCaller): Promise<WalletPackage> {
    const wallet = await wallets.open(ownId(userId, caller), clock.nowMs());
    return {
      _id: wallet._id,
      user_id: wallet._id,
      type: 'free',
      total: 0,
      balance: 0,
      created_at: toIso(wallet.createdAtMs),
      updated_at: toIso(wallet.updatedAtMs),
      finished_at: NEVER_ENDS,
      processor_subscription_id: null,
      processor_price_id: null,
      billing_period: null,
      current_period_end: null,
      cancel_at_period_end: null,
      cancel_at: null,
      scheduled_change: null,
      last_synced_at: null,
      subscription_currency: null,
      subscription_status: null,
      extra_balance: 0,
      has_used_trial: false,
    };
  }

  async function getApiCredit(userId: string, query: ApiCreditQuery, caller: KeyCaller): Promise<ApiCredit> {
    const ownUserId = ownId(userId, caller);
    if (query.team_id !== undefined && query.team_id !== caller.workspaceId) throw noWallet();
    const walletId = query.team_id === undefined ? ownUserId : await payerOf(caller.workspaceId);
    const wallet = await wallets.open(walletId, clock.nowMs());
    return {
      _id: wallet._id,
      user_id: wallet._id,
      credit: formatMicros(wallet.balanceMicros),
      cumulative_top_up: formatMicros(wallet.cumulativeTopUpMicros),
      created_at: toIso(wallet.createdAtMs),
      updated_at: toIso(wallet.updatedAtMs),
      has_phone_sha256: false,
      // Credit is given by the operator alone, and none of it is of another kind.
      has_free_credit: query.check_free_credit === true ? false : null,
    };
  }

  return { getPackage, getApiCredit };
}
export type WalletService = ReturnType<typeof createWalletService>;

function ownId(userId: string, caller: KeyCaller): string {
  if (userId !== 'self' && userId !== caller.userId) throw noWallet();
  return caller.userId;
}

function noWallet(): Failure {
  return new Failure('not_found', 'Wallet not found');
}
