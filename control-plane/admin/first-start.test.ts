import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { createFaultyStore, type Fault } from '../../test/fakes/faulty-store.ts';
import { createAccounts } from '../accounts.ts';
import { openEmbeddedStore } from '../storage/embedded-store.ts';
import { newApiKey } from '../workspaces/api-key.ts';
import { API_KEY_FILE, prepareFirstStart } from './first-start.ts';
import { openLocalKeys } from './local-keys.ts';

function setUp() {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const store = openEmbeddedStore({ file: ':memory:', synchronous: 'NORMAL' });
  onTestFinished(() => store.close());
  const settings = {
    PARLEY_DATA_DIR: dataDir,
    PARLEY_SECRET_KEY: '',
    PARLEY_JOIN_PRIVATE_KEY: '',
    MONGO_URL: '',
  };

  async function start(fault: Fault = () => null) {
    const accounts = createAccounts({
      store: createFaultyStore(store, fault),
      masterKeys: openLocalKeys(settings).masterKeys,
      clock: new FakeClock(),
      log: silentLogger,
    });
    const { firstAccount, charging } = accounts;
    await prepareFirstStart({
      dataDir,
      hasWorkspaces: firstAccount.hasWorkspaces,
      isUnfinished: firstAccount.isUnfinished,
      newApiKey: () => newApiKey().apiKey,
      createAccount: firstAccount.create,
      addCredit: charging.addCredit,
      log: silentLogger,
    });
    return accounts;
  }
  const file = join(dataDir, API_KEY_FILE);
  const readFile = () => JSON.parse(readFileSync(file, 'utf8'));
  return { dataDir, start, file, readFile };
}

test('an empty store gets workspace default, a user, and a key with beta access and 100.00 of credit', async () => {
  const { start, file, readFile } = setUp();

  const accounts = await start();

  const { api_key, workspace_id, user_id } = readFile();
  const caller = await accounts.authentication.authenticate(api_key);
  expect(caller).toMatchObject({ workspaceId: workspace_id, userId: user_id, hasBetaAccess: true });
  expect((await accounts.service.listWorkspaces()).map((w) => w.name)).toEqual(['default']);
  expect((await accounts.findWallet(user_id))?.balanceMicros).toBe(100_000_000);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('the second start changes nothing', async () => {
  const { start, readFile } = setUp();
  await start();
  const before = readFile();

  const accounts = await start();

  expect(readFile()).toEqual(before);
  expect(await accounts.service.listWorkspaces()).toHaveLength(1);
  expect((await accounts.findWallet(before.user_id))?.balanceMicros).toBe(100_000_000);
});

test.each(['wallets', 'users', 'workspaces', 'memberships', 'api_keys'])(
  'a first start that died at %s is finished by the next one, with the same key',
  async (dying) => {
    const { start, readFile } = setUp();
    const isWrite = (operation: string) => operation === 'insertOne' || operation === 'updateOne';
    const fault: Fault = (collection, operation) =>
      collection === dying && isWrite(operation) ? 'before' : null;
    await expect(start(fault)).rejects.toThrow('store did not answer');
    const { api_key, user_id } = readFile();

    const accounts = await start();

    expect(readFile().api_key).toBe(api_key);
    expect((await accounts.authentication.authenticate(api_key)).hasBetaAccess).toBe(true);
    expect(await accounts.service.listWorkspaces()).toHaveLength(1);
    expect((await accounts.findWallet(user_id))?.balanceMicros).toBe(100_000_000);
  },
);

test('a store with workspaces of its own is left alone', async () => {
  const { start, file } = setUp();
  const accounts = await start();
  rmSync(file);

  await start();

  expect(await accounts.service.listWorkspaces()).toHaveLength(1);
  expect(() => statSync(file)).toThrow();
});

test('the keys are made once, readable by their owner alone, and the public one is there for workers', () => {
  const { dataDir } = setUp();
  const settings = {
    PARLEY_DATA_DIR: dataDir,
    PARLEY_SECRET_KEY: '',
    PARLEY_JOIN_PRIVATE_KEY: '',
    MONGO_URL: '',
  };

  const first = openLocalKeys(settings);
  const second = openLocalKeys(settings);

  expect(second).toEqual(first);
  expect(statSync(join(dataDir, 'secret-key')).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataDir, 'join-private-key.pem')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(dataDir, 'join-public-key.pem'), 'utf8')).toContain('PUBLIC KEY');
});

test('with a shared store the keys must be given; all that is missing is named at once', () => {
  const { dataDir } = setUp();
  const settings = {
    PARLEY_DATA_DIR: dataDir,
    PARLEY_SECRET_KEY: '',
    PARLEY_JOIN_PRIVATE_KEY: '',
    MONGO_URL: 'mongodb://a',
  };

  expect(() => openLocalKeys(settings)).toThrow(/PARLEY_SECRET_KEY[\s\S]*PARLEY_JOIN_PRIVATE_KEY/);
});

test('a key that is none is named by its setting, without being shown', () => {
  const { dataDir } = setUp();
  const settings = { PARLEY_DATA_DIR: dataDir, PARLEY_JOIN_PRIVATE_KEY: '', MONGO_URL: '' };

  expect(() => openLocalKeys({ ...settings, PARLEY_SECRET_KEY: 'sesame' })).toThrow(
    /PARLEY_SECRET_KEY: (?!.*sesame)/,
  );
  expect(() =>
    openLocalKeys({ ...settings, PARLEY_SECRET_KEY: '', PARLEY_JOIN_PRIVATE_KEY: '-----BEGIN sesame' }),
  ).toThrow(/PARLEY_JOIN_PRIVATE_KEY: (?!.*sesame)/);
});
