import { expect, onTestFinished, test } from 'vitest';
import { createFaultyStore } from '../fakes/faulty-store.ts';
import { makeTestStore } from '../support/test-store.ts';
import { startEveryRoute } from './every-route-setup.ts';

const UNAVAILABLE = JSON.stringify({ status: 503, message: 'Service temporarily unavailable', reason: null });

test('while the store is away every operation is a 503 that may be tried again, and works afterwards', async () => {
  let isAway = false;
  const made = await makeTestStore();
  onTestFinished(() => made.remove());
  const api = await startEveryRoute({
    store: createFaultyStore(made.store, () => (isAway ? 'before' : null)),
  });
  onTestFinished(() => api.stop());
  const own = await api.makeOneOfEach();
  const operations = api.operations.filter(({ needsKey }) => needsKey);
  expect(operations.length).toBeGreaterThanOrEqual(28);

  isAway = true;
  const valid = operations.filter(({ path }) => !path.includes('available-phone-numbers'));
  for (const operation of valid) {
    const { status, headers, text } = await api.perform(operation, own);
    expect([operation.name, status, text]).toEqual([operation.name, 503, UNAVAILABLE]);
    expect(headers.get('retry-after'), operation.name).toBe('1');
  }
  expect((await api.send('GET', '/readyz')).status).toBe(200);

  isAway = false;
  for (const operation of operations.filter(({ method }) => method === 'GET')) {
    expect((await api.perform(operation, own)).status, operation.name).toBeLessThan(500);
  }
});
