import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { parseKeyList } from '../../shared/secret-box.ts';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { createAccounts } from '../accounts.ts';
import type { Store } from '../storage/collection.ts';
import { openEmbeddedStore } from '../storage/embedded-store.ts';

const newMaster = () => randomBytes(32).toString('base64');

async function setUp() {
  const clock = new FakeClock();
  const store = openEmbeddedStore({ file: ':memory:', synchronous: 'NORMAL' });
  onTestFinished(() => store.close());
  const master = newMaster();
  const build = (masters: string) =>
    createAccounts({ store, masterKeys: parseKeyList(masters), clock, log: silentLogger });
  const accounts = build(master);
  const user = await accounts.service.createUser('Ann');
  const workspace = await accounts.service.createWorkspace('Team', user._id);
  const newKey = (expiresAtMs: number | null = null) =>
    accounts.service.createKey({ workspaceId: workspace._id, userId: user._id, name: 'k', expiresAtMs });
  const { authenticate } = accounts.authentication;
  return { clock, store, master, build, accounts, authenticate, user, workspace, newKey };
}

const invalid = { kind: 'invalid_token', message: 'Invalid token' };
const expired = { kind: 'invalid_token', message: 'Token expired' };

test('a key says whose it is', async () => {
  const { authenticate, newKey, user, workspace } = await setUp();
  const { apiKey, key } = await newKey();

  expect(apiKey).toMatch(/^pk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/);
  expect(await authenticate(apiKey)).toEqual({
    kind: 'api_key',
    workspaceId: workspace._id,
    userId: user._id,
    keyId: key._id,
    hasBetaAccess: false,
  });
});

test('the key itself is nowhere in the store', async () => {
  const { newKey, store } = await setUp();
  const { apiKey, key } = await newKey();

  const stored = JSON.stringify(await store.collection('api_keys').findOne({ _id: key._id }));

  expect(stored).not.toContain(apiKey);
  expect(stored).not.toContain(apiKey.slice(-43));
});

test('a wrong secret under a known id, an unknown id and other texts are Invalid token', async () => {
  const { authenticate, newKey } = await setUp();
  const { apiKey } = await newKey();
  const other = await newKey();
  const swapped = apiKey.slice(0, 20) + other.apiKey.slice(20);

  for (const text of [
    swapped,
    `pk_${'0'.repeat(16)}_${'a'.repeat(43)}`,
    apiKey.slice(0, -1),
    `${apiKey}a`,
    'x',
    '',
  ]) {
    await expect(authenticate(text)).rejects.toMatchObject(invalid);
  }
});

test('after a good answer a wrong secret under the same id is still refused', async () => {
  const { authenticate, newKey } = await setUp();
  const { apiKey } = await newKey();
  await authenticate(apiKey);

  const last = apiKey.endsWith('A') ? 'E' : 'A';
  await expect(authenticate(apiKey.slice(0, -1) + last)).rejects.toMatchObject(invalid);
});

test('past its time a key is Token expired, at once', async () => {
  const { authenticate, newKey, clock } = await setUp();
  const { apiKey } = await newKey(clock.nowMs() + 500);
  await authenticate(apiKey);

  await clock.advance(500);

  await expect(authenticate(apiKey)).rejects.toMatchObject(expired);
});

test('an expired key with a wrong secret does not tell that it expired', async () => {
  const { authenticate, newKey, clock } = await setUp();
  const { apiKey } = await newKey(clock.nowMs() - 1);

  await expect(authenticate(`${apiKey.slice(0, 20)}${'b'.repeat(43)}`)).rejects.toMatchObject(invalid);
});

test('a revoked key stops working within a second', async () => {
  const { accounts, authenticate, newKey, clock } = await setUp();
  const { apiKey, key } = await newKey();
  await authenticate(apiKey);

  await accounts.service.revokeKey(key._id);
  await clock.advance(1_000);

  await expect(authenticate(apiKey)).rejects.toMatchObject(invalid);
});

test('beta access of the workspace or of the user is enough', async () => {
  const { accounts, authenticate, newKey, clock, user, workspace } = await setUp();
  const { apiKey } = await newKey();
  const hasBeta = async () => {
    await clock.advance(1_000);
    return (await authenticate(apiKey)).hasBetaAccess;
  };

  await accounts.service.setBeta({ kind: 'workspace', id: workspace._id }, true);
  expect(await hasBeta()).toBe(true);
  await accounts.service.setBeta({ kind: 'workspace', id: workspace._id }, false);
  await accounts.service.setBeta({ kind: 'user', id: user._id }, true);
  expect(await hasBeta()).toBe(true);
});

test('after a rotation of the master key old API keys work and move to the new one', async () => {
  const { build, master, newKey } = await setUp();
  const next = newMaster();
  const { apiKey } = await newKey();

  await build(`${next},${master}`).authentication.authenticate(apiKey);

  expect((await build(next).authentication.authenticate(apiKey)).kind).toBe('api_key');
  await expect(build(newMaster()).authentication.authenticate(apiKey)).rejects.toMatchObject(invalid);
});

test('a user has keys of the workspaces it belongs to, and of no others', async () => {
  const { accounts, workspace } = await setUp();
  const stranger = await accounts.service.createUser('Bob');
  const input = { workspaceId: workspace._id, userId: stranger._id, name: '', expiresAtMs: null };

  await expect(accounts.service.createKey(input)).rejects.toMatchObject({ kind: 'conflict' });
  await accounts.service.addMember(workspace._id, stranger._id);
  await accounts.service.addMember(workspace._id, stranger._id);

  expect((await accounts.service.createKey(input)).key.userId).toBe(stranger._id);
});

test('a store that does not answer is not a bad key', async () => {
  const { newKey, master } = await setUp();
  const { apiKey } = await newKey();
  const away: Store = openEmbeddedStore({ file: ':memory:' });
  await away.close();
  const accounts = createAccounts({
    store: away,
    masterKeys: parseKeyList(master),
    clock: new FakeClock(),
    log: silentLogger,
  });

  await expect(accounts.authentication.authenticate(apiKey)).rejects.not.toMatchObject(invalid);
});
