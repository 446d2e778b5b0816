import { newId } from '../../shared/ids.ts';
import { toIso } from '../../shared/time.ts';
import type { Accounts } from '../accounts.ts';
import { formatMicros, parseMicros } from '../wallet/micros.ts';
import { type Command, type CommandInput, type Row, UsageError } from './command-line.ts';

/** Everything an administrator can do. */
export function adminCommands(): Command[] {
  return [
    ...userCommands(),
    ...workspaceCommands(),
    ...keyCommands(),
    ...creditCommands(),
    ...betaCommands(),
  ];
}

type User = Awaited<ReturnType<Accounts['service']['listUsers']>>[number];
type Workspace = Awaited<ReturnType<Accounts['service']['listWorkspaces']>>[number];
type Key = Awaited<ReturnType<Accounts['service']['listKeys']>>[number];

function userCommands(): Command[] {
  return [
    {
      name: 'user create',
      words: ['name'],
      options: [],
      summary: 'A user with an empty wallet.',
      run: async ({ word }, { service }) => userRow(await service.createUser(word('name'))),
    },
    {
      name: 'user list',
      words: [],
      options: [],
      summary: 'All users.',
      run: async (_input, { service }) => (await service.listUsers()).map(userRow),
    },
  ];
}

function workspaceCommands(): Command[] {
  return [
    {
      name: 'workspace create',
      words: ['name'],
      options: ['owner'],
      summary: 'A workspace; its owner (a user id) pays for it.',
      run: async (input, { service }) =>
        workspaceRow(await service.createWorkspace(input.word('name'), needed(input, 'owner'))),
    },
    {
      name: 'workspace list',
      words: [],
      options: [],
      summary: 'All workspaces.',
      run: async (_input, { service }) => (await service.listWorkspaces()).map(workspaceRow),
    },
    {
      name: 'workspace add-member',
      words: ['workspace_id', 'user_id'],
      options: [],
      summary: 'Lets a user have keys of the workspace.',
      run: async ({ word }, { service }) => {
        await service.addMember(word('workspace_id'), word('user_id'));
        return { workspace_id: word('workspace_id'), user_id: word('user_id') };
      },
    },
    {
      name: 'workspace members',
      words: ['workspace_id'],
      options: [],
      summary: 'Who belongs to a workspace.',
      run: async ({ word }, { service }) =>
        (await service.listMembers(word('workspace_id'))).map(({ userId }) => ({ user_id: userId })),
    },
  ];
}

function keyCommands(): Command[] {
  return [
    {
      name: 'key create',
      words: [],
      options: ['workspace', 'user', 'name', 'expires'],
      summary: 'An API key, shown this once. --expires takes an ISO 8601 time.',
      run: async (input, { service }) => {
        const { apiKey, key } = await service.createKey({
          workspaceId: needed(input, 'workspace'),
          userId: needed(input, 'user'),
          name: input.option('name') ?? '',
          expiresAtMs: readTime(input.option('expires')),
        });
        return { api_key: apiKey, ...keyRow(key) };
      },
    },
    {
      name: 'key list',
      words: [],
      options: ['workspace'],
      summary: 'The API keys of a workspace, without the keys themselves.',
      run: async (input, { service }) => (await service.listKeys(needed(input, 'workspace'))).map(keyRow),
    },
    {
      name: 'key revoke',
      words: ['key_id'],
      options: [],
      summary: 'Ends a key; it stops working within a second.',
      run: async ({ word }, { service }) => {
        await service.revokeKey(word('key_id'));
        return { key_id: word('key_id'), revoked: true };
      },
    },
  ];
}

function creditCommands(): Command[] {
  return [
    {
      name: 'credit add',
      words: ['user_id', 'amount'],
      options: ['id'],
      summary:
        'Adds credit; repeating it with the same --id adds it once. A negative amount goes after `--`.',
      run: async ({ word, option }, accounts) => {
        const userId = word('user_id');
        const micros = parseMicros(word('amount'));
        if (micros === null || micros === 0)
          throw new UsageError('The amount is a decimal number such as 25 or 0.50.');
        const creditId = option('id') ?? newId();
        if (!/^[A-Za-z0-9_-]{1,64}$/.test(creditId)) {
          throw new UsageError('--id takes letters, digits, - and _, at most 64.');
        }
        await accounts.service.getUser(userId);
        await accounts.charging.addCredit(userId, micros, creditId);
        return { ...(await creditRow(userId, accounts)), id: creditId };
      },
    },
    {
      name: 'credit show',
      words: ['user_id'],
      options: [],
      summary: 'A user’s credit.',
      run: async ({ word }, accounts) => {
        await accounts.service.getUser(word('user_id'));
        return creditRow(word('user_id'), accounts);
      },
    },
    {
      name: 'credit list',
      words: [],
      options: [],
      summary: 'Every user’s credit.',
      run: async (_input, accounts) =>
        Promise.all((await accounts.service.listUsers()).map((user) => creditRow(user._id, accounts))),
    },
  ];
}

function betaCommands(): Command[] {
  const change = (verb: string, hasAccess: boolean, summary: string): Command => ({
    name: `beta ${verb}`,
    words: [],
    options: ['workspace', 'user'],
    summary,
    run: async ({ option }, { service }) => {
      const [workspace, user] = [option('workspace'), option('user')];
      if ((workspace === null) === (user === null))
        throw new UsageError('Give one of --workspace and --user.');
      if (workspace !== null) await service.setBeta({ kind: 'workspace', id: workspace }, hasAccess);
      if (user !== null) await service.setBeta({ kind: 'user', id: user }, hasAccess);
      return { ...(workspace === null ? { user_id: user } : { workspace_id: workspace }), beta: hasAccess };
    },
  });
  return [
    change('grant', true, 'Lets the account create agents.'),
    change('revoke', false, 'Takes that away; its agents stay.'),
    {
      name: 'beta list',
      words: [],
      options: [],
      summary: 'Workspaces and users with beta access.',
      run: async (_input, { service }) => {
        const [workspaces, users] = [await service.listWorkspaces(), await service.listUsers()];
        return [
          ...workspaces
            .filter((w) => w.hasBetaAccess)
            .map((w) => ({ kind: 'workspace', id: w._id, name: w.name })),
          ...users.filter((u) => u.hasBetaAccess).map((u) => ({ kind: 'user', id: u._id, name: u.name })),
        ];
      },
    },
  ];
}

async function creditRow(userId: string, { findWallet }: Accounts): Promise<Row> {
  const wallet = await findWallet(userId);
  return {
    user_id: userId,
    credit: formatMicros(wallet?.balanceMicros ?? 0),
    cumulative_top_up: formatMicros(wallet?.cumulativeTopUpMicros ?? 0),
  };
}

function userRow(user: User): Row {
  return {
    user_id: user._id,
    name: user.name,
    beta: user.hasBetaAccess,
    created_at: toIso(user.createdAtMs),
  };
}

function workspaceRow(workspace: Workspace): Row {
  const { _id, name, ownerUserId, hasBetaAccess, createdAtMs } = workspace;
  return {
    workspace_id: _id,
    name,
    owner_user_id: ownerUserId,
    beta: hasBetaAccess,
    created_at: toIso(createdAtMs),
  };
}

function keyRow(key: Key): Row {
  return {
    key_id: key._id,
    workspace_id: key.workspaceId,
    user_id: key.userId,
    name: key.name,
    created_at: toIso(key.createdAtMs),
    expires_at: key.expiresAtMs === null ? null : toIso(key.expiresAtMs),
    revoked_at: key.revokedAtMs === null ? null : toIso(key.revokedAtMs),
  };
}

function needed(input: CommandInput, option: string): string {
  const value = input.option(option);
  if (value === null || value === '') throw new UsageError(`--${option} is needed.`);
  return value;
}

function readTime(text: string | null): number | null {
  if (text === null) return null;
  const ms = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(ms))
    throw new UsageError('--expires takes an ISO 8601 time such as 2030-01-31T00:00:00Z.');
  return ms;
}
