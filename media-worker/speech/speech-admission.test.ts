import { expect, test } from 'vitest';
import { Failure } from '../../shared/errors.ts';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { SpeechAdmission, type SpeechCaller } from './speech-admission.ts';

const CALLER: SpeechCaller = { workspaceId: 'ws1', userId: 'u1', keyId: 'k1', isOutOfCredit: false };

function setUp(authenticate: (key: string) => Promise<SpeechCaller> = async () => CALLER) {
  const clock = new FakeClock();
  let asked = 0;
  const admission = new SpeechAdmission({
    authenticate: (key) => {
      asked++;
      return authenticate(key);
    },
    maxInFlight: 2,
    clock,
  });
  return { admission, clock, asked: () => asked };
}

test('a good key is asked about once a second, however many requests carry it', async () => {
  const { admission, clock, asked } = setUp();

  await Promise.all([admission.identify('key'), admission.identify('key')]);
  await clock.advance(999);
  await admission.identify('key');
  expect(asked()).toBe(1);
  await clock.advance(1);
  await admission.identify('key');

  expect(asked()).toBe(2);
});

test('a revoked key is refused within a second', async () => {
  let isRevoked = false;
  const { admission, clock } = setUp(async () => {
    if (isRevoked) throw new Failure('invalid_token', 'Invalid token');
    return CALLER;
  });
  await admission.identify('key');

  isRevoked = true;
  await clock.advance(1_000);

  await expect(admission.identify('key')).rejects.toMatchObject({ kind: 'invalid_token' });
});

test('a refusal is not remembered', async () => {
  let isKnown = false;
  const { admission } = setUp(async () => {
    if (!isKnown) throw new Failure('unavailable', 'no control plane');
    return CALLER;
  });

  await expect(admission.identify('key')).rejects.toThrow();
  isKnown = true;

  expect(await admission.identify('key')).toEqual(CALLER);
});

test('one workspace has so many requests in flight, each workspace for itself', () => {
  const { admission } = setUp();
  const other = { ...CALLER, workspaceId: 'ws2' };
  const [first] = [
    admission.enter(CALLER, false),
    admission.enter(CALLER, false),
    admission.enter(other, false),
  ];

  expect(() => admission.enter(CALLER, false)).toThrow(
    expect.objectContaining({ kind: 'rate_limited', retryAfterS: 1 }),
  );
  first?.release();
  first?.release();

  expect(() => admission.enter(CALLER, false)).not.toThrow();
  expect(() => admission.enter(CALLER, false)).toThrow();
  expect(admission.inFlight).toBe(3);
});

test('without credit only what is free is let in', () => {
  const { admission } = setUp();
  const poor = { ...CALLER, isOutOfCredit: true };

  expect(() => admission.enter(poor, false)).toThrow(expect.objectContaining({ kind: 'out_of_credit' }));
  expect(() => admission.enter(poor, true)).not.toThrow();
});
