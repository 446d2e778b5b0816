import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { parseKeyList } from '../../shared/secret-box.ts';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { createAccounts } from '../accounts.ts';
import { openEmbeddedStore } from '../storage/embedded-store.ts';
import { formatOutput, readCommandLine, UsageError } from './command-line.ts';
import { adminCommands } from './commands.ts';

function setUp() {
  const store = openEmbeddedStore({ file: ':memory:', synchronous: 'NORMAL' });
  onTestFinished(() => store.close());
  const accounts = createAccounts({
    store,
    masterKeys: parseKeyList(randomBytes(32).toString('base64')),
    clock: new FakeClock(),
    log: silentLogger,
  });
  /** What the command line prints with `--json`. */
  async function admin(...words: string[]) {
    const { command, input } = readCommandLine(words, adminCommands());
    return JSON.parse(formatOutput(await command.run(input, accounts), true));
  }
  return { accounts, admin };
}

async function withAccount() {
  const { accounts, admin } = setUp();
  const { user_id } = await admin('user', 'create', 'Ann');
  const { workspace_id } = await admin('workspace', 'create', 'Team', '--owner', user_id);
  return { accounts, admin, user_id, workspace_id };
}

test.each<[string[], string]>([
  [[], 'Commands:'],
  [['key', 'fly'], 'key create'],
  [['user', 'create'], 'Usage: npm run admin -- user create <name>'],
  [['user', 'create', 'Ann', 'Lee'], 'Usage: npm run admin -- user create <name>'],
  [['user', 'create', 'Ann', '--bogus'], '--bogus'],
  [['user', 'create', 'Ann', '--workspace', 'w'], 'Usage: npm run admin -- user create <name>'],
  [['workspace', 'create', 'Team'], '--owner is needed'],
  [['credit', 'add', 'u', 'lots'], 'decimal number'],
  [['credit', 'add', 'u', '1', '--id', 'a.b'], '--id takes'],
  [['key', 'create', '--workspace', 'w', '--user', 'u', '--expires', 'soon'], 'ISO 8601'],
  [['beta', 'grant'], '--workspace and --user'],
])('%j is a usage error that shows how to write it', async (words, shown) => {
  const { admin } = setUp();

  await expect(admin(...words)).rejects.toThrow(UsageError);
  await expect(admin(...words)).rejects.toThrow(shown);
});

test('a key is shown when it is made and never again', async () => {
  const { accounts, admin, user_id, workspace_id } = await withAccount();

  const made = await admin('key', 'create', '--workspace', workspace_id, '--user', user_id, '--name', 'ci');
  const listed = await admin('key', 'list', '--workspace', workspace_id);

  expect((await accounts.authentication.authenticate(made.api_key)).workspaceId).toBe(workspace_id);
  expect(listed).toEqual([
    {
      key_id: made.key_id,
      workspace_id,
      user_id,
      name: 'ci',
      created_at: made.created_at,
      expires_at: null,
      revoked_at: null,
    },
  ]);
});

test('a revoked key is listed as revoked', async () => {
  const { admin, user_id, workspace_id } = await withAccount();
  const { key_id } = await admin('key', 'create', '--workspace', workspace_id, '--user', user_id);

  await admin('key', 'revoke', key_id);

  const [listed] = await admin('key', 'list', '--workspace', workspace_id);
  expect(listed.revoked_at).toMatch(/Z$/);
  await expect(admin('key', 'revoke', 'nope')).rejects.toMatchObject({ kind: 'not_found' });
});

test('credit under the same id is added once; a negative amount takes it away', async () => {
  const { admin, user_id } = await withAccount();

  await admin('credit', 'add', user_id, '2.5', '--id', 'invoice-1');
  await admin('credit', 'add', user_id, '2.5', '--id', 'invoice-1');
  await admin('credit', 'add', '--', user_id, '-1');

  expect(await admin('credit', 'show', user_id)).toEqual({
    user_id,
    credit: '1.50',
    cumulative_top_up: '2.50',
  });
  expect(await admin('credit', 'list')).toHaveLength(1);
  await expect(admin('credit', 'add', 'nobody', '1')).rejects.toMatchObject({ kind: 'not_found' });
});

test('beta access is granted, listed and revoked', async () => {
  const { admin, user_id, workspace_id } = await withAccount();

  await admin('beta', 'grant', '--workspace', workspace_id);
  await admin('beta', 'grant', '--user', user_id);
  expect(await admin('beta', 'list')).toEqual([
    { kind: 'workspace', id: workspace_id, name: 'Team' },
    { kind: 'user', id: user_id, name: 'Ann' },
  ]);
  await admin('beta', 'revoke', '--workspace', workspace_id);
  await admin('beta', 'revoke', '--user', user_id);

  expect(await admin('beta', 'list')).toEqual([]);
  await expect(admin('beta', 'grant', '--user', 'nobody')).rejects.toMatchObject({ kind: 'not_found' });
});

test('members of a workspace can be added and listed', async () => {
  const { admin, user_id, workspace_id } = await withAccount();
  const bob = await admin('user', 'create', 'Bob');

  await admin('workspace', 'add-member', workspace_id, bob.user_id);

  const members = await admin('workspace', 'members', workspace_id);
  expect(members.map((row: { user_id: string }) => row.user_id).sort()).toEqual(
    [user_id, bob.user_id].sort(),
  );
  expect((await admin('workspace', 'list')).map((row: { name: string }) => row.name)).toEqual(['Team']);
  expect(await admin('user', 'list')).toHaveLength(2);
});

test('without --json a record is lines of name and value', () => {
  expect(
    formatOutput(
      [
        { a: 1, b: null },
        { a: 2, b: 'x' },
      ],
      false,
    ),
  ).toBe('a: 1\nb: -\n\na: 2\nb: x');
  expect(formatOutput([], false)).toBe('none');
});
