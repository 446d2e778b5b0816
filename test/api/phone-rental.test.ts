import { describe, expect, test } from 'vitest';
import { CarrierRefused } from '../../control-plane/phone/carrier.ts';
import type { PhoneNumberDoc } from '../../control-plane/phone/phone-number-store.ts';
import { DAY_MICROS, NUMBER, NUMBERS, type PhoneApi, setUpPhoneApi } from './phone-setup.ts';

const DAY_MS = 86_400_000;
const START_MICROS = 100_000_000;

const dayOf = (api: PhoneApi) => new Date(api.clock.nowMs()).toISOString().slice(0, 10);
const nextDay = (api: PhoneApi) => api.clock.advance(DAY_MS - (api.clock.nowMs() % DAY_MS));
const read = async (api: PhoneApi, id: string) => (await api.askPhones('GET', `${NUMBERS}/${id}`)).body;

describe('the daily rental of a number', () => {
  test('is charged once per UTC day, the first day with the purchase', async () => {
    const api = await setUpPhoneApi();
    await api.boughtNumber();
    for (let sweeps = 0; sweeps < 3; sweeps++) await api.phones.sweeper.sweep();
    expect(await api.balance()).toBe(START_MICROS - DAY_MICROS);

    await nextDay(api);
    for (let sweeps = 0; sweeps < 3; sweeps++) await api.phones.sweeper.sweep();
    expect(await api.balance()).toBe(START_MICROS - 2 * DAY_MICROS);
  });

  test('is charged by one of many replicas that sweep at once', async () => {
    const api = await setUpPhoneApi();
    for (const line of ['0101', '0102', '0103']) {
      await api.boughtNumber({ phone_number: `+1415555${line}` });
    }
    await nextDay(api);
    await Promise.all(Array.from({ length: 10 }, () => api.phones.sweeper.sweep()));
    expect(await api.balance()).toBe(START_MICROS - 6 * DAY_MICROS);
  });

  test('is taken by the sweeper by itself', async () => {
    const api = await setUpPhoneApi();
    await api.boughtNumber();
    await nextDay(api);
    const stopping = new AbortController();
    const running = api.phones.sweeper.run(stopping.signal);
    for (let waits = 0; (await api.balance()) === START_MICROS - DAY_MICROS && waits < 100; waits++) {
      await api.clock.advance(1_000);
    }
    stopping.abort();
    await running;
    expect(await api.balance()).toBe(START_MICROS - 2 * DAY_MICROS);
  });

  test('is not charged for imported, failed and released numbers', async () => {
    const api = await setUpPhoneApi();
    await api.askPhones('POST', NUMBERS, {
      provider: 'sip',
      phone_number: '+493012345678',
      inbound_allowed_addresses: ['203.0.113.7'],
    });
    const released = await api.boughtNumber();
    await api.askPhones('DELETE', `${NUMBERS}/${released}`);
    api.carrier.failures.set('buy', new CarrierRefused('no'));
    await api.askPhones('POST', NUMBERS, { phone_number: '+14155550111' });
    const before = await api.balance();

    await nextDay(api);
    await api.phones.sweeper.sweep();

    expect(await api.balance()).toBe(before);
  });

  test('takes what is there, never below zero; the number stays live and says that it is unpaid', async () => {
    const api = await setUpPhoneApi({ creditMicros: DAY_MICROS + 10_000 });
    const id = await api.boughtNumber();

    await nextDay(api);
    await api.phones.sweeper.sweep();
    expect(await api.balance()).toBe(0);
    expect(await read(api, id)).toMatchObject({
      status: 'active',
      status_detail: `Rental of ${dayOf(api)} is paid only in part: out of API credit`,
    });

    await nextDay(api);
    await api.phones.sweeper.sweep();
    expect(await api.balance()).toBe(0);
    expect(await read(api, id)).toMatchObject({
      status: 'active',
      status_detail: `Rental of ${dayOf(api)} is not paid: out of API credit`,
    });
  });

  test('an unpaid day is taken later that day when credit comes, and the number says so', async () => {
    const api = await setUpPhoneApi({ creditMicros: DAY_MICROS });
    const id = await api.boughtNumber();
    await nextDay(api);
    await api.phones.sweeper.sweep();

    await api.charging.addCredit('payer', 1_000_000, 'more');
    for (let sweeps = 0; sweeps < 2; sweeps++) await api.phones.sweeper.sweep();

    expect(await api.balance()).toBe(1_000_000 - DAY_MICROS);
    expect((await read(api, id))['status_detail']).toBe('');
  });

  test('every number of a long list is charged', async () => {
    const api = await setUpPhoneApi({ limits: { numbersPerTeam: 300 } });
    const rows = api.store.collection<PhoneNumberDoc>('phone_numbers');
    await api.boughtNumber();
    const [bought] = await rows.find({ phoneNumber: NUMBER });
    if (!bought) throw new Error('there is no bought number');
    const { heldNumber: _held, slotKey: _slot, ...plain } = bought;
    for (let i = 0; i < 249; i++) await rows.insertOne({ ...plain, _id: `n${String(i).padStart(3, '0')}` });

    await nextDay(api);
    await api.phones.sweeper.sweep();

    expect(await api.balance()).toBe(START_MICROS - 251 * DAY_MICROS);
  });
});

describe('a purchase whose process died', () => {
  async function abandoned(api: PhoneApi): Promise<string> {
    const id = await api.boughtNumber();
    await api.store.collection('phone_numbers').updateOne({ _id: id }, { $set: { status: 'provisioning' } });
    return id;
  }

  test('ends as error after two minutes with its charge given back once', async () => {
    const api = await setUpPhoneApi();
    const id = await abandoned(api);
    await api.phones.sweeper.sweep();
    expect((await read(api, id))['status']).toBe('provisioning');

    await api.clock.advance(120_001);
    await Promise.all([api.phones.sweeper.sweep(), api.phones.sweeper.sweep()]);

    expect(await read(api, id)).toMatchObject({
      status: 'error',
      status_detail: 'The purchase was interrupted',
    });
    expect(await api.balance()).toBe(START_MICROS);
  });

  test('keeps the number from others until it is released at the provider', async () => {
    const api = await setUpPhoneApi();
    const id = await abandoned(api);
    await api.clock.advance(120_001);
    await api.phones.sweeper.sweep();

    expect((await api.askPhones('POST', NUMBERS, { phone_number: NUMBER })).status).toBe(409);
    await api.askPhones('DELETE', `${NUMBERS}/${id}`);
    expect(api.carrier.released).toEqual([NUMBER]);
    await api.boughtNumber();
  });

  test('a charge that could not be given back at once is given back later', async () => {
    const api = await setUpPhoneApi();
    api.carrier.failures.set('buy', new CarrierRefused('no'));
    await api.askPhones('POST', NUMBERS, { phone_number: NUMBER });
    api.carrier.failures.clear();
    const id = await api.boughtNumber();
    await api.store
      .collection('phone_numbers')
      .updateOne({ _id: id }, { $set: { refundDue: `number_${id}_${dayOf(api)}`, status: 'error' } });

    for (let sweeps = 0; sweeps < 2; sweeps++) await api.phones.sweeper.sweep();

    expect(await api.balance()).toBe(START_MICROS);
  });
});
