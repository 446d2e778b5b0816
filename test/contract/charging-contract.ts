import { expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../control-plane/storage/collection.ts';
import { createCharging } from '../../control-plane/wallet/charging.ts';
import { createLedger } from '../../control-plane/wallet/ledger.ts';
import { createWalletStore } from '../../control-plane/wallet/wallet-store.ts';
import { silentLogger } from '../../shared/log.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { createFaultyStore, type Fault } from '../fakes/faulty-store.ts';

const MINUTE_MICROS = 60_000;

type OpenStore = () => Promise<Store>;

async function setUpOn(openStore: OpenStore, options: { creditMicros?: number; fault?: Fault } = {}) {
  const clock = new FakeClock();
  const store = await openStore();
  onTestFinished(() => store.close());
  const build = (fault: Fault) => {
    const wallets = createWalletStore(createFaultyStore(store, fault));
    const ledger = createLedger({ wallets, clock, log: silentLogger });
    const charging = createCharging({ ledger, wallets, payerOf: async () => 'u1', log: silentLogger });
    return { wallets, ledger, charging };
  };
  const healthy = build(() => null);
  await healthy.wallets.ensureIndexes();
  await healthy.wallets.open('u1', clock.nowMs());
  await healthy.charging.addCredit('u1', options.creditMicros ?? 1_000_000, 'start');
  const { charging } = build(options.fault ?? (() => null));

  /** Balance, checked against the ledger. */
  async function balance(): Promise<number> {
    await healthy.ledger.reconcile();
    const wallet = await healthy.wallets.find('u1');
    const rows = await healthy.wallets.listRows('u1');
    expect(wallet?.pending).toEqual({});
    expect(wallet?.pendingCount).toBe(0);
    expect(rows.reduce((sum, row) => sum + row.amountMicros, 0)).toBe(wallet?.balanceMicros);
    return wallet?.balanceMicros ?? 0;
  }
  return { clock, charging, healthy, build, balance };
}

/** What charging promises, on whatever store: money moves once, wholly, and never disappears. */
export function chargingContract(openStore: OpenStore): void {
  const setUp = (options: Parameters<typeof setUpOn>[1] = {}) => setUpOn(openStore, options);

  test('a minute is taken up front and given back once, however often that is asked', async () => {
    const { charging, balance } = await setUp();

    const refund = await charging.chargeUpFront('w1', MINUTE_MICROS, 'ses_1');
    expect(await balance()).toBe(940_000);
    await refund();
    await refund();
    await charging.giveBack('ses_1');

    expect(await balance()).toBe(1_000_000);
  });

  test('too little credit is 402 Out of API credit and takes nothing', async () => {
    const { charging, balance } = await setUp({ creditMicros: MINUTE_MICROS - 1 });

    await expect(charging.chargeUpFront('w1', MINUTE_MICROS, 'ses_1')).rejects.toMatchObject({
      kind: 'out_of_credit',
      message: 'Out of API credit',
    });

    expect(await balance()).toBe(MINUTE_MICROS - 1);
  });

  test('exactly enough is enough', async () => {
    const { charging, balance } = await setUp({ creditMicros: MINUTE_MICROS });

    await charging.chargeUpFront('w1', MINUTE_MICROS, 'ses_1');

    expect(await balance()).toBe(0);
  });

  test('of 50 calls at once only as many are charged as the credit pays for', async () => {
    const { charging, balance } = await setUp({ creditMicros: 10 * MINUTE_MICROS + 5 });

    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) => charging.chargeUpFront('w1', MINUTE_MICROS, `ses_${i}`)),
    );

    expect(outcomes.filter((o) => o.status === 'fulfilled')).toHaveLength(10);
    expect(await balance()).toBe(5);
  });

  test('the same charge tried 20 times at once is made once', async () => {
    const { charging, balance } = await setUp();

    await Promise.all(Array.from({ length: 20 }, () => charging.chargeUpFront('w1', MINUTE_MICROS, 'ses_1')));

    expect(await balance()).toBe(940_000);
  });

  test.each([
    [0, 0],
    [1, 1_000],
    [20, 20_000],
    [60, 60_000],
    [61, 61_000],
    [600, 600_000],
  ])('a call of %d s costs %d micros in the end', async (seconds, micros) => {
    const { charging, balance } = await setUp();
    await charging.chargeUpFront('w1', MINUTE_MICROS, 'ses_1');

    await charging.settle('ses_1', seconds);

    expect(await balance()).toBe(1_000_000 - micros);
  });

  test('settling may go below zero, and counts once', async () => {
    const { charging, balance } = await setUp({ creditMicros: MINUTE_MICROS });
    await charging.chargeUpFront('w1', MINUTE_MICROS, 'ses_1');

    await Promise.all([charging.settle('ses_1', 100), charging.settle('ses_1', 100)]);
    await charging.settle('ses_1', 100);

    expect(await balance()).toBe(-40_000);
  });

  test('a session that was never charged has nothing to settle and nothing to give back', async () => {
    const { charging, balance } = await setUp();

    await charging.settle('ses_1', 100);
    await charging.giveBack('ses_1');

    expect(await balance()).toBe(1_000_000);
  });

  test('the price of a call is the one it was charged at', async () => {
    const { charging, balance } = await setUp();
    await charging.chargeUpFront('w1', 120_000, 'ses_1');

    await charging.settle('ses_1', 30);

    expect(await balance()).toBe(940_000);
  });

  test('a crash after the money moved and before its ledger row is mended by reconciling', async () => {
    const fault: Fault = (collection, operation) =>
      collection === 'wallet_ledger' && operation === 'insertOne' ? 'before' : null;
    const { charging, healthy, balance } = await setUp({ fault });

    await charging.chargeUpFront('w1', MINUTE_MICROS, 'ses_1');
    expect((await healthy.wallets.find('u1'))?.pendingCount).toBe(1);

    expect(await balance()).toBe(940_000);
  });

  test('a crash after the ledger row and before the end of the pending move changes nothing twice', async () => {
    const fault: Fault = (collection, operation) =>
      collection === 'wallet_ledger' && operation === 'insertOne' ? 'after' : null;
    const { charging, healthy, balance } = await setUp({ fault });

    await charging.chargeUpFront('w1', MINUTE_MICROS, 'ses_1');

    expect(await balance()).toBe(940_000);
    await healthy.charging.giveBack('ses_1');
    expect(await balance()).toBe(1_000_000);
  });

  test('a charge whose answer was lost is found and given back', async () => {
    let isLost = false;
    const fault: Fault = (collection, operation) => {
      if (collection !== 'wallets' || operation !== 'updateOne' || isLost) return null;
      isLost = true;
      return 'after';
    };
    const { charging, healthy, balance } = await setUp({ fault });

    await expect(charging.chargeUpFront('w1', MINUTE_MICROS, 'ses_1')).rejects.toThrow(
      'store did not answer',
    );
    await healthy.charging.giveBack('ses_1');

    expect(await balance()).toBe(1_000_000);
  });

  test('a try that was overtaken by another one of the same charge takes its own money out again', async () => {
    const { healthy, balance } = await setUp();
    const { wallets } = healthy;
    await healthy.charging.chargeUpFront('w1', MINUTE_MICROS, 'ses_1');
    // A slow replica looked for the row before it was there, and moves the money only now.
    const late = {
      attemptId: 'late',
      amountMicros: -MINUTE_MICROS,
      kind: 'charge',
      workspaceId: 'w1',
      atMs: 1,
    } as const;
    expect(await wallets.addPending('u1', 'charge_ses_1', late, null)).toBe(true);
    expect((await wallets.find('u1'))?.balanceMicros).toBe(880_000);

    expect(await balance()).toBe(940_000);
  });

  test('an id that could not be a field name is refused', async () => {
    const { charging } = await setUp();

    await expect(charging.chargeUpFront('w1', MINUTE_MICROS, 'a.b')).rejects.toThrow('ledger entry id');
  });
}
