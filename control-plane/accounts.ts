import type { Logger } from '../shared/log.ts';
import type { NamedKey } from '../shared/secret-box.ts';
import type { Clock } from '../shared/time.ts';
import type { Store } from './storage/collection.ts';
import { createCharging } from './wallet/charging.ts';
import { createLedger } from './wallet/ledger.ts';
import { createWalletService } from './wallet/wallet-service.ts';
import { createWalletStore } from './wallet/wallet-store.ts';
import { createAccountService } from './workspaces/account-service.ts';
import { createAccountStore } from './workspaces/account-store.ts';
import { createApiKeyHasher } from './workspaces/api-key.ts';
import { createApiKeyStore } from './workspaces/api-key-store.ts';
import { createFirstAccount } from './workspaces/first-account.ts';
import { createKeyAuthentication } from './workspaces/key-authentication.ts';

export interface AccountsDeps {
  readonly store: Store;
  readonly masterKeys: readonly NamedKey[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Who may call and who pays: what the server and the administrator's command line have in common. */
export function createAccounts({ store, masterKeys, clock, log }: AccountsDeps) {
  const hasher = createApiKeyHasher(masterKeys);
  const accounts = createAccountStore(store);
  const keys = createApiKeyStore(store);
  const wallets = createWalletStore(store);
  const openWallet = async (userId: string) => {
    await wallets.open(userId, clock.nowMs());
  };
  const service = createAccountService({ accounts, keys, hasher, openWallet, clock });
  const ledger = createLedger({ wallets, clock, log });
  const payerOf = service.ownerOf;

  return {
    service,
    ledger,
    charging: createCharging({ ledger, wallets, payerOf, log }),
    wallet: createWalletService({ wallets, payerOf, clock }),
    authentication: createKeyAuthentication({ keys, accounts, hasher, clock }),
    firstAccount: createFirstAccount({ accounts, keys, hasher, clock }),
    findWallet: wallets.find,
    ensureIndexes: async (): Promise<void> => {
      await Promise.all([accounts.ensureIndexes(), keys.ensureIndexes(), wallets.ensureIndexes()]);
    },
  };
}
export type Accounts = ReturnType<typeof createAccounts>;
