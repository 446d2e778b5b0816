import { describe, expect, test } from 'vitest';
import { createSessionItemStore } from '../../control-plane/sessions/session-item-store.ts';
import { createSessionStart } from '../../control-plane/sessions/session-start.ts';
import { createSessionStore } from '../../control-plane/sessions/session-store.ts';
import type { SessionSpec } from '../../shared/generated/parley/v1/worker_link.ts';
import { cursors } from './agents-setup.ts';
import { AGENTS, type Materials, SOURCES, setUpMaterials } from './tools-setup.ts';

async function setUp(...texts: string[]) {
  const api = await setUpMaterials();
  const sourceIds: string[] = [];
  for (const text of texts) sourceIds.push(await api.createSource(text));
  const agentId = await api.createAgent();
  await api.useSources(agentId, ...sourceIds);
  const replace = (id: string | undefined, text: string) =>
    api.send('PATCH', `${SOURCES}/${id}`, { source: { name: 'a.md', bytes: text } });
  const known = async (which: 'publishedConfig' | 'draftConfig') =>
    api.materials.knowledge.knowledgeFor('w1', (await api.lookup[which](agentId))?.knowledge ?? []);
  return { ...api, agentId, sourceIds, replace, known };
}

/** The spec a worker gets when a session with the published agent is started. */
async function startedSpec(api: Materials, agentId: string): Promise<SessionSpec | undefined> {
  const sessions = createSessionStore(api.store, cursors);
  await Promise.all([sessions.ensureIndexes(), createSessionItemStore(api.store).ensureIndexes()]);
  const specs: SessionSpec[] = [];
  const start = createSessionStart({
    sessions,
    wallet: { chargeUpFront: async () => {}, giveBack: async () => {} },
    place: async (spec) => {
      specs.push(spec);
      return { workerId: 'wk1', rtcUrl: 'ws://worker.example' };
    },
    release: async () => {},
    signJoinToken: async () => 'token',
    knowledgeFor: api.materials.knowledge.knowledgeFor,
    clock: api.clock,
    limits: {
      joinWindowMs: 1,
      publicJoinWindowMs: 1,
      reconnectWindowMs: 1,
      previewMaxDurationS: 600,
      upFrontMicros: 1,
      publicPerMinutePerIp: 1,
      publicPerMinutePerAgent: 1,
    },
  });
  const agent = await api.lookup.findAgent(agentId, 'w1');
  const runnable = await api.lookup.publishedConfig(agentId);
  if (!agent || !runnable) throw new Error('the agent is not published');
  await start({ agent, runnable, body: {}, source: 'api_key', traceparent: '' });
  return specs[0];
}

describe('revisions', () => {
  test('a draft uses the newest, a version the one that was published', async () => {
    const { publish, agentId, sourceIds, replace, known } = await setUp('first');
    await publish(agentId);
    await replace(sourceIds[0], 'second');
    expect((await known('publishedConfig')).inlineText).toBe('first');
    expect((await known('draftConfig')).inlineText).toBe('second');
    await publish(agentId);
    expect((await known('publishedConfig')).inlineText).toBe('second');
  });

  test('a new one leaves something to publish; a new name doesn’t', async () => {
    const { publish, agentId, sourceIds, replace, send, ask } = await setUp('first');
    const draftHash = async () => (await ask('GET', `${AGENTS}/${agentId}/config`)).body['config_hash'];
    const first = (await publish(agentId)).body;
    expect(await draftHash()).toBe(first['config_hash']);

    await send('PATCH', `${SOURCES}/${sourceIds[0]}`, { name: 'Renamed' });
    expect((await publish(agentId)).body).toEqual(first);

    await replace(sourceIds[0], 'second');
    expect(await draftHash()).not.toBe(first['config_hash']);
    expect((await publish(agentId)).body['version_number']).toBe(2);
  });

  test('one that a publish left behind unmarked is found by the next publish', async () => {
    const { publish, agentId, sourceIds, store, useSources, ask } = await setUp('first');
    await publish(agentId);
    // As after a crash between storing the version and marking it live.
    await store.collection('agents').updateOne({ _id: agentId }, { $unset: { live: '' } });
    await publish(agentId);
    await useSources(agentId);
    expect((await ask('DELETE', `${SOURCES}/${sourceIds[0]}`)).status).toBe(409);
  });
});

describe('what a session knows', () => {
  test('short texts are inlined together, in order', async () => {
    const api = await setUp('one\n', 'two');
    await api.publish(api.agentId);
    expect(await startedSpec(api, api.agentId)).toMatchObject({
      knowledgeText: 'one\n\ntwo',
      knowledgeChunks: [],
    });
  });

  test.each([
    ['8 KB are inlined', 4096, true],
    ['a byte more is cut into passages', 4097, false],
  ])('%s', async (_what, secondBytes, isInlined) => {
    const api = await setUp(`${'a'.repeat(4095)}.`, `${'b'.repeat(secondBytes - 1)}.`);
    await api.publish(api.agentId);
    const spec = await startedSpec(api, api.agentId);
    expect(spec?.knowledgeText !== '').toBe(isInlined);
    expect((spec?.knowledgeChunks.length ?? 0) > 0).toBe(!isInlined);
  });

  test('long texts come as passages with an id and the name of their source', async () => {
    const long = `# Hours\n\n${'We are open all day. '.repeat(600)}`;
    const api = await setUp(long, 'short');
    await api.publish(api.agentId);
    const spec = await startedSpec(api, api.agentId);
    expect(spec?.knowledgeText).toBe('');
    expect(spec?.knowledgeChunks[0]).toEqual({
      id: `${api.sourceIds[0]}:0`,
      sourceName: 'notes.md',
      text: expect.stringMatching(/^# Hours\nWe are open/),
    });
    expect(spec?.knowledgeChunks.at(-1)).toEqual({
      id: `${api.sourceIds[1]}:0`,
      sourceName: 'notes.md',
      text: 'short',
    });
    expect(new Set(spec?.knowledgeChunks.map(({ id }) => id)).size).toBe(spec?.knowledgeChunks.length);
  });

  test('is 4 MB of passages at most', async () => {
    const megabyte = 'some words to know '.repeat(52_000);
    const api = await setUp(megabyte, megabyte, megabyte, megabyte, megabyte);
    await api.publish(api.agentId);
    const spec = await startedSpec(api, api.agentId);
    const bytes = (spec?.knowledgeChunks ?? []).reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    expect(bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(bytes).toBeGreaterThan(4 * 1024 * 1024 - 2000);
  });

  test('is nothing while knowledge is switched off', async () => {
    const api = await setUp('one');
    await api.ask('PATCH', `${AGENTS}/${api.agentId}/config`, { knowledge_base: { enabled: false } });
    await api.publish(api.agentId);
    expect(await startedSpec(api, api.agentId)).toMatchObject({ knowledgeText: '', knowledgeChunks: [] });
  });

  test('comes with the frozen tools, credentials in the clear', async () => {
    const api = await setUp('one');
    const header = { name: 'Authorization', value: 'Bearer one', kind: 'authorization_bearer' };
    const toolId = await api.createTool({ headers: [header] });
    await api.attach(api.agentId, toolId);
    await api.publish(api.agentId);
    const spec = await startedSpec(api, api.agentId);
    expect(JSON.parse(spec?.toolsJson ?? '')).toMatchObject([{ tool_id: toolId, headers: [header] }]);
  });
});
