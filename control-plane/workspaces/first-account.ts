import type { Clock } from '../../shared/time.ts';
import { DuplicateKeyError } from '../storage/collection.ts';
import type { AccountStore } from './account-store.ts';
import { type ApiKeyHasher, apiKeyId } from './api-key.ts';
import type { ApiKeyStore } from './api-key-store.ts';

/** Ids and key chosen by the caller. */
export interface FirstAccountIds {
  readonly api_key: string;
  readonly workspace_id: string;
  readonly user_id: string;
}

export interface FirstAccountDeps {
  readonly accounts: AccountStore;
  readonly keys: ApiKeyStore;
  readonly hasher: ApiKeyHasher;
  readonly clock: Clock;
}

/** The account of a store's first start. Each step may be repeated with the same ids; the key comes last. */
export function createFirstAccount({ accounts, keys, hasher, clock }: FirstAccountDeps) {
  async function create({ api_key, workspace_id, user_id }: FirstAccountIds): Promise<void> {
    const keyId = apiKeyId(api_key);
    if (keyId === null) throw new Error('the first account needs a whole API key');
    const createdAtMs = clock.nowMs();
    const ofAll = { hasBetaAccess: true, createdAtMs };
    const owner = { _id: user_id, name: 'owner', ...ofAll };
    const workspace = { _id: workspace_id, name: 'default', ownerUserId: user_id, ...ofAll };
    await unlessThere(accounts.insertUser(owner));
    await unlessThere(accounts.insertWorkspace(workspace));
    await accounts.addMember(workspace_id, user_id, createdAtMs);
    await unlessThere(
      keys.insert({
        _id: keyId,
        workspaceId: workspace_id,
        userId: user_id,
        name: 'first start',
        ...hasher.hash(api_key),
        createdAtMs,
        expiresAtMs: null,
        revokedAtMs: null,
      }),
    );
  }

  /** True when the workspace is there and its key is not. */
  async function isUnfinished({ api_key, workspace_id }: FirstAccountIds): Promise<boolean> {
    const keyId = apiKeyId(api_key);
    const workspace = await accounts.findWorkspace(workspace_id);
    return workspace !== null && keyId !== null && (await keys.find(keyId)) === null;
  }

  const hasWorkspaces = async (): Promise<boolean> => (await accounts.listWorkspaces(1)).length > 0;
  return { create, isUnfinished, hasWorkspaces };
}

async function unlessThere(insert: Promise<void>): Promise<void> {
  await insert.catch((error: unknown) => {
    if (!(error instanceof DuplicateKeyError)) throw error;
  });
}
