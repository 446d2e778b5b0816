import { describe, expect, onTestFinished, test } from 'vitest';
import { type CarrierEvent, CarrierRefused, type DialSpec } from '../../control-plane/phone/carrier.ts';
import { TestCarrier } from '../../control-plane/phone/test-carrier.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

function setUp() {
  const clock = new FakeClock();
  const carrier = new TestCarrier(clock);
  const events: CarrierEvent[] = [];
  carrier.listen((event) => events.push(event));
  onTestFinished(() => carrier.close());
  return { clock, carrier, events };
}

const dialTo = (to: string, spec: Partial<DialSpec> = {}): DialSpec => ({
  callId: 'c1',
  to,
  from: '+14155550110',
  ringTimeoutS: 60,
  maxDurationS: 600,
  provider: 'twilio',
  trunk: null,
  headers: {},
  ...spec,
});

describe('the test carrier’s numbers', () => {
  test('are the same every time, at most as many as asked for, of the country and area', async () => {
    const { carrier } = setUp();
    const search = { countryCode: 'US', areaCode: null, limit: 3 } as const;
    const numbers = (await carrier.searchNumbers(search)).map(({ phoneNumber }) => phoneNumber);
    expect(numbers).toEqual(['+14155550100', '+14155550101', '+14155550102']);
    expect((await setUp().carrier.searchNumbers(search)).map((n) => n.phoneNumber)).toEqual(numbers);
    const [canadian] = await carrier.searchNumbers({ countryCode: 'CA', areaCode: '604', limit: 1 });
    expect(canadian).toMatchObject({ phoneNumber: '+16045550100', countryCode: 'CA' });
  });

  test('are sold once, not found while sold, and found again after their release', async () => {
    const { carrier } = setUp();
    const first = async () =>
      (await carrier.searchNumbers({ countryCode: 'US', areaCode: null, limit: 1 }))[0]?.phoneNumber;
    await carrier.buyNumber('+14155550100');
    expect(await first()).toBe('+14155550101');
    await expect(carrier.buyNumber('+14155550100')).rejects.toBeInstanceOf(CarrierRefused);
    await carrier.releaseNumber('+14155550100');
    expect(await first()).toBe('+14155550100');
  });

  test('that were never sold are released without an error', async () => {
    await setUp().carrier.releaseNumber('+14155550100');
  });

  test('ending in 0113 are refused, the release of those in 0117 is refused once', async () => {
    const { carrier } = setUp();
    await expect(carrier.buyNumber('+14155550113')).rejects.toBeInstanceOf(CarrierRefused);
    await carrier.buyNumber('+14155550117');
    await expect(carrier.releaseNumber('+14155550117')).rejects.toBeInstanceOf(CarrierRefused);
    await carrier.releaseNumber('+14155550117');
  });
});

describe('the test carrier’s calls', () => {
  test.each([
    ['0101', 'busy', 200],
    ['0102', 'no_answer', 60_000],
    ['0103', 'failed', 200],
  ])('to …%s end with %s', async (line, outcome, afterMs) => {
    const { clock, carrier, events } = setUp();
    await carrier.dial(dialTo(`+1415555${line}`));
    await clock.advance(afterMs - 1);
    expect(events).toEqual([]);
    expect(carrier.heldCalls()).toEqual(['c1']);
    await clock.advance(1);
    expect(events).toEqual([{ type: 'ended', callId: 'c1', outcome, atMs: clock.nowMs() }]);
    expect(carrier.heldCalls()).toEqual([]);
  });

  test('to any other number are answered, and the person hangs up', async () => {
    const { clock, carrier, events } = setUp();
    await carrier.dial(dialTo('+14155550199'));
    await clock.advance(200);
    expect(events).toEqual([{ type: 'answered', callId: 'c1', atMs: clock.nowMs() }]);
    await clock.advance(10_000);
    expect(events[1]).toEqual({ type: 'ended', callId: 'c1', outcome: 'answered', atMs: clock.nowMs() });
  });

  test('last no longer than they may', async () => {
    const { clock, carrier, events } = setUp();
    await carrier.dial(dialTo('+14155550199', { maxDurationS: 3 }));
    await clock.advance(3_200);
    expect(events).toMatchObject([{ type: 'answered' }, { type: 'ended', outcome: 'answered' }]);
  });

  test('to …0104 are refused', async () => {
    const { carrier } = setUp();
    await expect(carrier.dial(dialTo('+14155550104'))).rejects.toBeInstanceOf(CarrierRefused);
    expect(carrier.heldCalls()).toEqual([]);
  });

  test('are hung up once: while ringing nobody answered, afterwards it was a conversation', async () => {
    const { clock, carrier, events } = setUp();
    await carrier.dial(dialTo('+14155550199'));
    await carrier.dial(dialTo('+14155550199', { callId: 'c2' }));
    await carrier.hangUp('c2');
    await clock.advance(1_000);
    await carrier.hangUp('c1');
    await carrier.hangUp('c1');
    await carrier.hangUp('never');
    await clock.advance(60_000);
    expect(events.map((event) => [event.callId, event.type === 'ended' ? event.outcome : 'news'])).toEqual([
      ['c2', 'no_answer'],
      ['c1', 'news'],
      ['c1', 'answered'],
    ]);
  });

  test('tell nothing after the carrier is closed', async () => {
    const { clock, carrier, events } = setUp();
    await carrier.dial(dialTo('+14155550199'));
    carrier.close();
    await clock.advance(60_000);
    expect(events).toEqual([]);
    expect(carrier.heldCalls()).toEqual([]);
  });
});
