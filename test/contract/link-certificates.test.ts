import { afterEach, expect, test } from 'vitest';
import { createControlCalls } from '../../media-worker/coordination/control-calls.ts';
import { systemClock } from '../../shared/time.ts';
import { sessionSpec } from '../fakes/fake-worker-session.ts';
import { createTestAuthority } from '../support/certificates.ts';
import { Cleanups, startControlPlane, startWorker, tempDir } from './link-fixture.ts';

const cleanups = new Cleanups();
afterEach(() => cleanups.run());

const soon = { timeout: 5_000, interval: 10 };

async function createAuthority() {
  const authority = await createTestAuthority();
  cleanups.add(authority.remove);
  return authority;
}

test('with certificates on both sides the link works', async () => {
  const authority = await createAuthority();
  const { link, port } = await startControlPlane(cleanups, {
    certificates: await authority.issue('control'),
  });

  await startWorker(cleanups, {
    ports: [port],
    dir: await tempDir(cleanups),
    certificates: await authority.issue('worker'),
  });

  await expect.poll(() => link.linkedWorkers().length, soon).toBe(1);
  expect(await link.reserve('worker-1', sessionSpec('a'), 1_000)).toEqual({ isAccepted: true });
});

test('a worker without a certificate, or with one of a foreign authority, is refused', async () => {
  const authority = await createAuthority();
  const foreign = await createAuthority();
  const { link, port } = await startControlPlane(cleanups, {
    certificates: await authority.issue('control'),
    authenticate: async () => ({ workspaceId: 'w', userId: 'u', keyId: 'k' }),
  });
  const { certPem, keyPem } = await foreign.issue('intruder');
  const own = await authority.issue('worker');
  const listAddresses = async () => [{ target: `localhost:${port}`, serverName: null }];
  const callsWith = (certificates: typeof own | null) => {
    const calls = createControlCalls({ listAddresses, certificates, clock: systemClock });
    cleanups.add(async () => calls.close());
    return calls.authenticateKey('key');
  };

  const refused = [null, { caPem: own.caPem, certPem, keyPem }];
  for (const [index, certificates] of refused.entries()) {
    await startWorker(cleanups, {
      workerId: `intruder-${index}`,
      ports: [port],
      dir: await tempDir(cleanups),
      certificates,
    });
    await expect(callsWith(certificates)).rejects.toMatchObject({ kind: 'unavailable' });
  }
  await startWorker(cleanups, {
    workerId: 'own',
    ports: [port],
    dir: await tempDir(cleanups),
    certificates: own,
  });

  expect(await callsWith(own)).toEqual({ workspaceId: 'w', userId: 'u', keyId: 'k', isOutOfCredit: false });
  await expect.poll(() => link.linkedWorkers().map((worker) => worker.workerId), soon).toEqual(['own']);
});

test('a worker refuses a control plane of a foreign authority', async () => {
  const authority = await createAuthority();
  const foreign = await createAuthority();
  const { certPem, keyPem } = await foreign.issue('control');
  const { caPem, ...own } = await authority.issue('worker');
  // The server would take the worker's certificate; only the worker's own check is left.
  const { link, port } = await startControlPlane(cleanups, { certificates: { caPem, certPem, keyPem } });

  const { links } = await startWorker(cleanups, {
    ports: [port],
    dir: await tempDir(cleanups),
    certificates: { caPem, ...own },
  });
  const calls = createControlCalls({
    listAddresses: async () => [{ target: `localhost:${port}`, serverName: null }],
    certificates: { caPem, ...own },
    clock: systemClock,
  });
  cleanups.add(async () => calls.close());

  await expect(calls.authenticateKey('key')).rejects.toMatchObject({ kind: 'unavailable' });
  expect(links.upCount).toBe(0);
  expect(link.linkedWorkers()).toEqual([]);
});
