import { Failure } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { Clock } from '../../shared/time.ts';
import type { AccountStore, UserDoc, WorkspaceDoc } from './account-store.ts';
import { type ApiKeyHasher, newApiKey } from './api-key.ts';
import type { ApiKeyDoc, ApiKeyStore } from './api-key-store.ts';

export interface AccountServiceDeps {
  readonly accounts: AccountStore;
  readonly keys: ApiKeyStore;
  readonly hasher: ApiKeyHasher;
  /** Opens the user's wallet. */
  readonly openWallet: (userId: string) => Promise<void>;
  readonly clock: Clock;
}

/** What an administrator does with workspaces, users and API keys. Refuses with `Failure`. */
export function createAccountService({ accounts, keys, hasher, openWallet, clock }: AccountServiceDeps) {
  async function createUser(name: string): Promise<UserDoc> {
    const user: UserDoc = { _id: newId(), name, hasBetaAccess: false, createdAtMs: clock.nowMs() };
    await accounts.insertUser(user);
    await openWallet(user._id);
    return user;
  }

  /** The owner becomes a member; its credit pays for the workspace. */
  async function createWorkspace(name: string, ownerUserId: string): Promise<WorkspaceDoc> {
    await needUser(ownerUserId);
    const createdAtMs = clock.nowMs();
    const workspace: WorkspaceDoc = { _id: newId(), name, ownerUserId, hasBetaAccess: false, createdAtMs };
    await accounts.insertWorkspace(workspace);
    await accounts.addMember(workspace._id, ownerUserId, createdAtMs);
    return workspace;
  }

  async function addMember(workspaceId: string, userId: string): Promise<void> {
    await needWorkspace(workspaceId);
    await needUser(userId);
    await accounts.addMember(workspaceId, userId, clock.nowMs());
  }

  /** The key itself is in the answer and nowhere else. */
  async function createKey(
    input: { workspaceId: string; userId: string; name: string; expiresAtMs: number | null },
    made = newApiKey(),
  ): Promise<{ readonly apiKey: string; readonly key: ApiKeyDoc }> {
    await needWorkspace(input.workspaceId);
    await needUser(input.userId);
    if (!(await accounts.isMember(input.workspaceId, input.userId))) {
      throw new Failure('conflict', 'The user does not belong to the workspace');
    }
    const key: ApiKeyDoc = {
      _id: made.id,
      ...input,
      ...hasher.hash(made.apiKey),
      createdAtMs: clock.nowMs(),
      revokedAtMs: null,
    };
    await keys.insert(key);
    return { apiKey: made.apiKey, key };
  }

  async function revokeKey(keyId: string): Promise<void> {
    if (!(await keys.revoke(keyId, clock.nowMs()))) throw new Failure('not_found', 'API key not found');
  }

  async function setBeta(
    target: { kind: 'workspace' | 'user'; id: string },
    hasAccess: boolean,
  ): Promise<void> {
    const isKnown =
      target.kind === 'workspace'
        ? await accounts.setWorkspaceBeta(target.id, hasAccess)
        : await accounts.setUserBeta(target.id, hasAccess);
    if (!isKnown) throw new Failure('not_found', `No such ${target.kind}`);
  }

  async function needWorkspace(id: string): Promise<WorkspaceDoc> {
    const workspace = await accounts.findWorkspace(id);
    if (!workspace) throw new Failure('not_found', 'No such workspace');
    return workspace;
  }

  async function needUser(id: string): Promise<UserDoc> {
    const user = await accounts.findUser(id);
    if (!user) throw new Failure('not_found', 'No such user');
    return user;
  }

  return {
    createUser,
    createWorkspace,
    addMember,
    createKey,
    revokeKey,
    setBeta,
    /** Whose API credit pays for the workspace. Throws `Failure` not_found. */
    ownerOf: async (workspaceId: string): Promise<string> => (await needWorkspace(workspaceId)).ownerUserId,
    listWorkspaces: () => accounts.listWorkspaces(),
    listUsers: accounts.listUsers,
    listKeys: async (workspaceId: string): Promise<ApiKeyDoc[]> => {
      await needWorkspace(workspaceId);
      return keys.listOf(workspaceId);
    },
    /** Throws `Failure` not_found. */
    getUser: needUser,
    listMembers: async (workspaceId: string) => {
      await needWorkspace(workspaceId);
      return accounts.listMembers(workspaceId);
    },
  };
}
