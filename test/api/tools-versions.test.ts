import { expect, test } from 'vitest';
import { AGENTS, setUpMaterials, TOOLS } from './tools-setup.ts';

async function setUp() {
  const api = await setUpMaterials();
  const toolId = await api.createTool({
    description: 'first',
    headers: [{ name: 'Authorization', value: 'Bearer one', kind: 'authorization_bearer' }],
    mock_responses: [{ name: 'm' }],
  });
  const agentId = await api.createAgent();
  await api.attach(agentId, toolId);
  const edit = (patch: Record<string, unknown>) => api.ask('PATCH', `${TOOLS}/${toolId}`, patch);
  const draftHash = async () => (await api.ask('GET', `${AGENTS}/${agentId}/config`)).body['config_hash'];
  const published = async () => (await api.lookup.publishedConfig(agentId))?.tools;
  const draft = async () => (await api.lookup.draftConfig(agentId))?.tools;
  return { ...api, toolId, agentId, edit, draftHash, published, draft };
}

test('publishing freezes a copy of each tool, with the credentials that sessions need', async () => {
  const { publish, agentId, toolId, edit, published, draft } = await setUp();
  await publish(agentId);

  await edit({
    description: 'second',
    headers: [{ name: 'Authorization', value: 'Bearer two', kind: 'authorization_bearer' }],
  });

  expect(await published()).toMatchObject([
    { tool_id: toolId, description: 'first', headers: [{ value: 'Bearer one' }] },
  ]);
  expect(await draft()).toMatchObject([
    { tool_id: toolId, description: 'second', headers: [{ value: 'Bearer two' }] },
  ]);
  expect(JSON.stringify(await published())).not.toContain('mock');
});

test('a frozen copy outlives its tool', async () => {
  const { publish, agentId, attach, ask, toolId, published } = await setUp();
  await publish(agentId);
  await attach(agentId);
  expect((await ask('DELETE', `${TOOLS}/${toolId}`)).status).toBe(204);
  expect(await published()).toMatchObject([{ tool_id: toolId, headers: [{ value: 'Bearer one' }] }]);
});

test.each([
  ['a description', { description: 'other' }],
  [
    'a rotated credential',
    { headers: [{ name: 'Authorization', value: 'Bearer two', kind: 'authorization_bearer' }] },
  ],
])('%s of a tool leaves something to publish, and publishing it makes a version', async (_what, patch) => {
  const { publish, agentId, edit, draftHash } = await setUp();
  const first = (await publish(agentId)).body;
  expect(await draftHash()).toBe(first['config_hash']);

  await edit(patch);

  expect(await draftHash()).not.toBe(first['config_hash']);
  const second = (await publish(agentId)).body;
  expect(second['version_number']).toBe(2);
  expect(await draftHash()).toBe(second['config_hash']);
});

test('a tool that was saved again as it is leaves nothing to publish', async () => {
  const { publish, agentId, edit } = await setUp();
  const first = (await publish(agentId)).body;
  await edit({
    description: 'first',
    headers: [{ name: 'Authorization', value: 'Bearer one', kind: 'authorization_bearer' }],
  });
  expect((await publish(agentId)).body).toEqual(first);
});

test('sessions get no tools while they are switched off', async () => {
  const { publish, agentId, ask, published } = await setUp();
  await ask('PATCH', `${AGENTS}/${agentId}/config`, { tools: { enabled: false } });
  await publish(agentId);
  expect(await published()).toEqual([]);
});

test('tools come in the order of the configuration, each once', async () => {
  const { publish, agentId, toolId, createTool, attach, published } = await setUp();
  const other = await createTool();
  await attach(agentId, other, toolId, other);
  await publish(agentId);
  expect((await published())?.map(({ tool_id }) => tool_id)).toEqual([other, toolId]);
});

test('tools of more than 4 MB together can’t be published', async () => {
  const { publish, agentId, createTool, attach } = await setUp();
  const large = { body_template: 'ü'.repeat(100_000) };
  const ids: string[] = [];
  for (let count = 0; count < 21; count++) ids.push(await createTool(large));
  await attach(agentId, ...ids.slice(1));
  expect((await publish(agentId)).status).toBe(200);
  await attach(agentId, ...ids);
  expect((await publish(agentId)).status).toBe(409);
});
