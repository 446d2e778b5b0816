import { expect, test } from 'vitest';
import { Failure } from '../../shared/errors.ts';
import type { SpeechUsage } from '../../shared/generated/parley/v1/control.ts';
import { silentLogger } from '../../shared/log.ts';
import { createSpeechUsage } from './speech-usage.ts';

const USAGE: SpeechUsage = {
  usageId: 'u1',
  workspaceId: 'ws1',
  kind: 'tts',
  model: 's2.1-pro',
  quantity: 100,
  atMs: 0,
};

function setUp(refuse: (usageId: string) => Error | null = () => null) {
  const charged: [string, number, string][] = [];
  const usage = createSpeechUsage({
    prices: { ttsByteMicros: 15, asrSecondMicros: 100 },
    chargeUsage: async (workspaceId, amountMicros, usageId) => {
      const error = refuse(usageId);
      if (error) throw error;
      charged.push([workspaceId, amountMicros, usageId]);
    },
    log: silentLogger,
  });
  return { charged, settle: usage.settle };
}

test('text costs by the byte, audio by the second', async () => {
  const { charged, settle } = setUp();

  await settle([USAGE, { ...USAGE, usageId: 'u2', kind: 'asr', model: 'transcribe-1', quantity: 61 }]);

  expect(charged).toEqual([
    ['ws1', 1_500, 'u1'],
    ['ws1', 6_100, 'u2'],
  ]);
});

test('the free model costs nothing and leaves no row', async () => {
  const { charged, settle } = setUp();

  await settle([{ ...USAGE, model: 's2.1-pro-free' }]);

  expect(charged).toEqual([]);
});

test('a workspace that is gone does not hold up the others; a store that is down does', async () => {
  const gone = setUp((id) => (id === 'u1' ? new Failure('not_found', 'No such workspace') : null));
  await gone.settle([USAGE, { ...USAGE, usageId: 'u2' }]);
  expect(gone.charged).toHaveLength(1);

  const down = setUp(() => new Error('store is down'));
  await expect(down.settle([USAGE])).rejects.toThrow('store is down');
});
