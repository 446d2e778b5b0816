import { type Document, DuplicateKeyError, type Store } from '../storage/collection.ts';

/** A team: owner of agents, sessions and every other resource. */
export interface WorkspaceDoc extends Document {
  readonly name: string;
  /** The user whose API credit pays. */
  readonly ownerUserId: string;
  readonly hasBetaAccess: boolean;
  readonly createdAtMs: number;
}

export interface UserDoc extends Document {
  readonly name: string;
  readonly hasBetaAccess: boolean;
  readonly createdAtMs: number;
}

interface MembershipDoc extends Document {
  readonly workspaceId: string;
  readonly userId: string;
  readonly createdAtMs: number;
}

/** An administrator lists by hand; past this many the list says that it was cut. */
export const LIST_LIMIT = 1_000;

/** Workspaces, users, and who belongs where. */
export function createAccountStore(store: Store) {
  const workspaces = store.collection<WorkspaceDoc>('workspaces');
  const users = store.collection<UserDoc>('users');
  const memberships = store.collection<MembershipDoc>('memberships');

  const membershipId = (workspaceId: string, userId: string) => `${workspaceId}:${userId}`;

  return {
    insertWorkspace: (doc: WorkspaceDoc) => workspaces.insertOne(doc),
    findWorkspace: (id: string) => workspaces.findOne({ _id: id }),
    listWorkspaces: (limit = LIST_LIMIT) => workspaces.find({}, { limit }),
    insertUser: (doc: UserDoc) => users.insertOne(doc),
    findUser: (id: string) => users.findOne({ _id: id }),
    listUsers: () => users.find({}, { limit: LIST_LIMIT }),

    /** False when there is no such workspace. */
    setWorkspaceBeta: async (id: string, hasBetaAccess: boolean): Promise<boolean> =>
      (await workspaces.updateOne({ _id: id }, { $set: { hasBetaAccess } })) > 0,
    /** False when there is no such user. */
    setUserBeta: async (id: string, hasBetaAccess: boolean): Promise<boolean> =>
      (await users.updateOne({ _id: id }, { $set: { hasBetaAccess } })) > 0,

    /** Safe to call again. */
    addMember: async (workspaceId: string, userId: string, createdAtMs: number): Promise<void> => {
      try {
        const _id = membershipId(workspaceId, userId);
        await memberships.insertOne({ _id, workspaceId, userId, createdAtMs });
      } catch (error) {
        if (!(error instanceof DuplicateKeyError)) throw error;
      }
    },
    isMember: async (workspaceId: string, userId: string): Promise<boolean> =>
      (await memberships.findOne({ _id: membershipId(workspaceId, userId) })) !== null,
    listMembers: (workspaceId: string) => memberships.find({ workspaceId }, { limit: LIST_LIMIT }),

    ensureIndexes: () => memberships.createIndex({ workspaceId: 1, _id: 1 }),
  };
}
export type AccountStore = ReturnType<typeof createAccountStore>;
