import { describe, expect, test } from 'vitest';
import type { Json } from './agents-setup.ts';
import { AGENTS, locsOf, setUpMaterials, TOOLS, WEBHOOK } from './tools-setup.ts';

describe('changing a tool', () => {
  test('keeps what is left out, clears text with "", replaces lists whole', async () => {
    const { createTool, ask, clock } = await setUpMaterials();
    const id = await createTool({
      description: 'Old',
      arguments: [{ name: 'a' }, { name: 'b' }],
      method: 'PUT',
    });
    await clock.advance(1000);
    const { status, body } = await ask('PATCH', `${TOOLS}/${id}`, {
      description: '',
      arguments: [{ name: 'c' }],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'Look up',
      method: 'PUT',
      description: '',
      arguments: [{ name: 'c' }],
    });
    expect(body['updated_at']).not.toBe(body['created_at']);
  });

  test.each([
    ['its type', { tool_type: 'client' }, 'tool_type'],
    ['an empty url', { url: '' }, 'url'],
    ['null', { name: null }, 'name'],
    ['an unknown field', { tool_id: 'x' }, 'tool_id'],
    ['a private url', { url: 'http://10.1.1.1/' }, 'url'],
  ])('refuses %s and changes nothing', async (_what, patch, loc) => {
    const { createTool, ask } = await setUpMaterials();
    const path = `${TOOLS}/${await createTool()}`;
    const before = (await ask('GET', path)).body;
    const { status, body } = await ask('PATCH', path, patch);
    expect(status).toBe(422);
    expect(locsOf(body)).toEqual([loc]);
    expect((await ask('GET', path)).body).toEqual(before);
  });

  test('leaving the background with more than 120 seconds is refused', async () => {
    const { createTool, ask } = await setUpMaterials();
    const path = `${TOOLS}/${await createTool({ execution_mode: 'background', timeout_seconds: 200 })}`;
    expect(locsOf((await ask('PATCH', path, { execution_mode: 'blocking' })).body)).toEqual([
      'timeout_seconds',
    ]);
    expect((await ask('PATCH', path, { execution_mode: 'blocking', timeout_seconds: 20 })).status).toBe(200);
  });

  test('in parallel loses no change', async () => {
    const { createTool, ask } = await setUpMaterials();
    const path = `${TOOLS}/${await createTool()}`;
    const changes: Json[] = [{ name: 'N' }, { description: 'D' }, { method: 'GET' }, { timeout_seconds: 7 }];
    await Promise.all(changes.map((change) => ask('PATCH', path, change)));
    expect((await ask('GET', path)).body).toMatchObject(Object.assign({}, ...changes));
  });
});

describe('the list of tools', () => {
  const namesOf = (body: Json) => (body['tools'] as Json[]).map(({ name }) => name);

  async function withTools(...names: string[]) {
    const api = await setUpMaterials();
    const ids: string[] = [];
    for (const name of names) {
      ids.push(await api.createTool({ name }));
      await api.clock.advance(1000);
    }
    return { ...api, ids };
  }

  test('is newest first and shows summaries', async () => {
    const { ask, ids } = await withTools('a', 'b');
    const { body } = await ask('GET', TOOLS);
    expect(body).toMatchObject({ has_more: false, next_cursor: null, total: null });
    expect(namesOf(body)).toEqual(['b', 'a']);
    expect((body['tools'] as Json[])[1]).toEqual({
      tool_id: ids[0],
      workspace_id: 'w1',
      name: 'a',
      description: '',
      tool_type: 'webhook',
      method: 'POST',
      url: WEBHOOK.url,
      used_by: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });

  test('is paged by cursor and by page', async () => {
    const { ask } = await withTools('a', 'b', 'c');
    const first = (await ask('GET', `${TOOLS}?page_size=2`)).body;
    expect(namesOf(first)).toEqual(['c', 'b']);
    const rest = (await ask('GET', `${TOOLS}?page_size=2&cursor=${first['next_cursor']}&include_total=true`))
      .body;
    expect(namesOf(rest)).toEqual(['a']);
    expect(rest['total']).toBe(3);
    const second = (await ask('GET', `${TOOLS}?page_size=2&page=2`)).body;
    expect(second).toMatchObject({ total: 3, has_more: false });
    expect(namesOf(second)).toEqual(['a']);
    for (const bad of ['page=1&cursor=x', 'cursor=x', 'page_size=100&page=1002']) {
      expect((await ask('GET', `${TOOLS}?${bad}`)).status).toBe(400);
    }
    expect((await ask('GET', `${TOOLS}?page_size=101`)).status).toBe(422);
  });

  test('is searched by name in any case, and by nothing else', async () => {
    const { ask } = await withTools('Find order', 'Cancel ORDER', 'c++ (beta)');
    expect(namesOf((await ask('GET', `${TOOLS}?search=order`)).body)).toEqual(['Cancel ORDER', 'Find order']);
    expect(namesOf((await ask('GET', `${TOOLS}?search=${encodeURIComponent('C++ (')}`)).body)).toEqual([
      'c++ (beta)',
    ]);
    expect(namesOf((await ask('GET', `${TOOLS}?search=api.example`)).body)).toEqual([]);
  });

  test('can be those of one agent’s draft, also none', async () => {
    const { ask, ids, createAgent, attach } = await withTools('a', 'b', 'c');
    const agent = await createAgent();
    expect(namesOf((await ask('GET', `${TOOLS}?agent_id=${agent}`)).body)).toEqual([]);
    await attach(agent, String(ids[0]), String(ids[2]));
    const { body } = await ask('GET', `${TOOLS}?agent_id=${agent}&page=1`);
    expect(namesOf(body)).toEqual(['c', 'a']);
    expect(body).toMatchObject({ total: 2, tools: [{ used_by: 1 }, { used_by: 1 }] });
  });

  test('of an unknown agent, or another team’s, is a 404', async () => {
    const { ask, createAgent } = await withTools('a');
    const agent = await createAgent();
    const missing = await ask('GET', `${TOOLS}?agent_id=nobody`);
    expect(missing.status).toBe(404);
    expect(await ask('GET', `${TOOLS}?agent_id=${agent}`, undefined, { key: 'other' })).toMatchObject({
      status: 404,
      body: missing.body,
    });
  });
});

describe('a tool that agents use', () => {
  test('counts and names the drafts that have it, archived ones too', async () => {
    const { ask, createTool, createAgent, attach, clock } = await setUpMaterials();
    const id = await createTool();
    const one = await createAgent();
    await clock.advance(1000);
    const two = await createAgent();
    await attach(one, id);
    await attach(two, id, await createTool());
    await ask('PATCH', `${AGENTS}/${one}`, { status: 'archived' });

    expect((await ask('GET', `${TOOLS}/${id}`)).body['used_by']).toBe(2);
    expect((await ask('GET', `${TOOLS}/${id}/agents`)).body).toEqual({
      agents: [
        { agent_id: two, name: 'Desk' },
        { agent_id: one, name: 'Desk' },
      ],
      total: 2,
    });
  });

  test('can’t be deleted while any draft has it; a published copy doesn’t block', async () => {
    const { ask, createTool, createAgent, attach, publish } = await setUpMaterials();
    const id = await createTool();
    const agents = [await createAgent(), await createAgent()];
    for (const agent of agents) await attach(agent, id);
    await publish(String(agents[0]));

    const refused = await ask('DELETE', `${TOOLS}/${id}`);
    expect(refused.status).toBe(409);
    expect(refused.body['message']).toMatch(/^Tool is attached to 2 agent\(s\)/);

    for (const agent of agents) await attach(agent);
    expect((await ask('DELETE', `${TOOLS}/${id}`)).status).toBe(204);
    expect((await ask('GET', `${TOOLS}/${id}`)).status).toBe(404);
    expect((await ask('DELETE', `${TOOLS}/${id}`)).status).toBe(404);
  });

  test('is free again when its agent is deleted', async () => {
    const { ask, createTool, createAgent, attach } = await setUpMaterials();
    const id = await createTool();
    const agent = await createAgent();
    await attach(agent, id);
    await ask('DELETE', `${AGENTS}/${agent}`);
    expect((await ask('DELETE', `${TOOLS}/${id}`)).status).toBe(204);
  });

  test('must be of the agent’s workspace', async () => {
    const { ask, createTool, createAgent, attach } = await setUpMaterials();
    const foreign = await ask('POST', TOOLS, WEBHOOK, { key: 'other' });
    for (const id of ['nobody', String(foreign.body['tool_id'])]) {
      const { status, body } = await attach(await createAgent(), await createTool(), id);
      expect(status).toBe(422);
      expect(locsOf(body)).toEqual(['tools.tool_ids']);
    }
  });
});

test.each([
  ['GET', '', undefined],
  ['PATCH', '', { name: 'Mine' }],
  ['DELETE', '', undefined],
  ['GET', '/agents', undefined],
  ['POST', '/test', {}],
])(
  '%s of another team’s tool%s is the same 404 as of a missing one; no key is a bare 401',
  async (method, sub, body) => {
    const { ask, createTool } = await setUpMaterials();
    const id = await createTool();
    const other = { key: 'other' };

    const foreign = await ask(method, `${TOOLS}/${id}${sub}`, body, other);
    const missing = await ask(method, `${TOOLS}/${'0'.repeat(32)}${sub}`, body, other);

    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(missing.body);
    expect(await ask(method, `${TOOLS}/${id}${sub}`, body, { key: null })).toMatchObject({
      status: 401,
      body: null,
    });
    expect((await ask('GET', `${TOOLS}/${id}`)).body['name']).toBe('Look up');
    expect((await ask('GET', TOOLS, undefined, other)).body['tools']).toEqual([]);
  },
);
