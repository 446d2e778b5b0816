import { expect, onTestFinished, test } from 'vitest';
import { startControlPlane } from '../fakes/control-plane.ts';
import { sessionDoc } from '../support/session-doc.ts';
import { startEveryRoute } from './every-route-setup.ts';

test('every stored document carries its schema version', async () => {
  const api = await startEveryRoute();
  onTestFinished(() => api.stop());
  const own = await api.makeOneOfEach();
  for (const operation of api.operations.filter(({ method }) => method !== 'DELETE')) {
    await api.perform(operation, own);
  }

  const stored = await api.everyDocument();
  const collections = new Set(stored.map(({ collection }) => collection));
  expect(collections.size).toBeGreaterThanOrEqual(12);
  for (const { collection, document } of stored) {
    expect(document['schemaVersion'], collection).toBe(collection === 'sessions' ? 2 : 1);
  }
});

test('whoever reads a document finds what was written, without the version', async () => {
  const plane = await startControlPlane();
  onTestFinished(() => plane.stop());
  const sessions = plane.store.collection<ReturnType<typeof sessionDoc>>('sessions');
  const doc = sessionDoc({ workspaceId: 'w', agentId: 'a' });
  await sessions.insertOne(doc);

  expect(await sessions.findOne({ _id: doc._id })).toEqual(doc);
  expect(await sessions.find({ _id: doc._id })).toEqual([doc]);
  const named = { ...doc, name: 'n' };
  expect(await sessions.findOneAndUpdate({ _id: doc._id }, { $set: { name: 'n' } })).toEqual(named);
  expect(await sessions.replaceOne({ _id: doc._id }, doc)).toBe(1);
  expect(await sessions.findOne({ _id: doc._id })).toEqual(doc);
});

test('a session record without a direction is listed as inbound', async () => {
  const plane = await startControlPlane();
  onTestFinished(() => plane.stop());
  const { direction: _, ...old } = sessionDoc({ workspaceId: plane.account.workspaceId, agentId: 'a' });
  await plane.store.collection<typeof old>('sessions').insertOne(old);
  const listed = async (direction: string) =>
    (await plane.call('GET', `/v1/agent/sessions?direction=${direction}`)).body.sessions.length;

  expect([await listed('inbound'), await listed('outbound')]).toEqual([1, 0]);
});
