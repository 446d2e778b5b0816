import { describe, expect, test } from 'vitest';
import { type Json, setUpAgentApi } from './agents-setup.ts';

const AGENTS = '/v1/agent/agents';

describe('creating an agent', () => {
  test('makes an active draft of the caller’s workspace', async () => {
    const { ask } = await setUpAgentApi();

    const { status, body } = await ask('POST', AGENTS, { name: 'Desk' });

    expect(status).toBe(201);
    expect(body).toEqual({
      agent_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      workspace_id: 'w1',
      name: 'Desk',
      description: '',
      status: 'active',
      publication_state: 'draft',
      public_enabled: false,
      allowed_origins: [],
      overrides_allowed: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: body['created_at'],
    });
  });

  test('applies a given configuration on the defaults', async () => {
    const { ask, createAgent } = await setUpAgentApi();

    const id = await createAgent({ config: { prompt: { system_prompt: 'Be brief.' } } });

    const { body } = await ask('GET', `${AGENTS}/${id}/config`);
    expect(body['prompt']).toMatchObject({ system_prompt: 'Be brief.', first_message_mode: 'prompt' });
  });

  test('needs beta access', async () => {
    const { ask } = await setUpAgentApi();
    const { status, body } = await ask('POST', AGENTS, { name: 'Desk' }, { key: 'nobeta' });
    expect([status, body['status']]).toEqual([403, 403]);
    expect(body['message']).toMatch(/beta/);
  });

  test.each([
    ['no name', {}, ['body', 'name']],
    ['an empty name', { name: '' }, ['body', 'name']],
    ['a name of 121 characters', { name: 'x'.repeat(121) }, ['body', 'name']],
    [
      'a description of 2001 characters',
      { name: 'a', description: 'x'.repeat(2001) },
      ['body', 'description'],
    ],
    ['an unknown field', { name: 'a', colour: 'red' }, ['body', 'colour']],
    ['an unknown section', { name: 'a', config: { colour: {} } }, ['body', 'config', 'colour']],
    [
      'a language that is not offered',
      { name: 'a', config: { voice: { speaking_language: 'ru' } } },
      ['body', 'config', 'voice', 'speaking_language'],
    ],
    [
      'an unknown system variable',
      { name: 'a', config: { prompt: { system_prompt: '{{system.now}}' } } },
      ['body', 'config', 'prompt', 'system_prompt'],
    ],
  ])('with %s is a 422 that names the field', async (_what, sent, loc) => {
    const { ask } = await setUpAgentApi();
    const { status, body } = await ask('POST', AGENTS, sent);
    expect(status).toBe(422);
    expect(body).toEqual([
      expect.objectContaining({ loc, type: expect.any(String), msg: expect.any(String) }),
    ]);
  });
});

describe('an agent', () => {
  test('of another team answers like a missing one, on every endpoint', async () => {
    const { ask, createAgent } = await setUpAgentApi();
    const id = await createAgent();
    const endpoints: [string, string, Json?][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'x' }],
      ['DELETE', ''],
      ['GET', '/config'],
      ['PATCH', '/config', {}],
      ['POST', '/publish'],
      ['GET', '/versions'],
      ['GET', '/versions/1'],
    ];
    for (const [method, path, sent] of endpoints) {
      const foreign = await ask(method, `${AGENTS}/${id}${path}`, sent, { key: 'other' });
      const missing = await ask(method, `${AGENTS}/${'0'.repeat(32)}${path}`, sent);
      expect(foreign.status, `${method} ${path}`).toBe(404);
      expect(foreign.body, `${method} ${path}`).toEqual(missing.body);
    }
    expect((await ask('GET', `${AGENTS}/${id}`)).status).toBe(200);
  });

  test('keeps what a patch leaves out', async () => {
    const { ask, createAgent, clock } = await setUpAgentApi();
    const id = await createAgent({ description: 'Front desk' });
    await clock.advance(1000);

    const { status, body } = await ask('PATCH', `${AGENTS}/${id}`, {
      public_enabled: true,
      allowed_origins: ['https://a.example', 'http://localhost:3000/'],
      overrides_allowed: ['voice_id', 'language', 'voice_id'],
    });

    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'Desk',
      description: 'Front desk',
      public_enabled: true,
      allowed_origins: ['https://a.example', 'http://localhost:3000/'],
      overrides_allowed: ['voice_id', 'language'],
    });
    expect(String(body['updated_at']) > String(body['created_at'])).toBe(true);
    expect((await ask('GET', `${AGENTS}/${id}`)).body).toEqual(body);
  });

  test.each([
    ['null', { name: null }],
    ['an unknown status', { status: 'gone' }],
    ['an unknown field', { workspace_id: 'w2' }],
    ['21 origins', { allowed_origins: Array.from({ length: 21 }, (_, i) => `https://${i}.example`) }],
    ['an origin with a path', { allowed_origins: ['https://a.example/x'] }],
    ['an unknown override', { overrides_allowed: ['tools'] }],
  ])('refuses %s in a patch with 422', async (_what, sent) => {
    const { ask, createAgent } = await setUpAgentApi();
    const id = await createAgent();
    expect((await ask('PATCH', `${AGENTS}/${id}`, sent)).status).toBe(422);
  });

  test('is gone after its deletion, versions included', async () => {
    const { ask, createAgent, versions } = await setUpAgentApi();
    const id = await createAgent();
    await ask('POST', `${AGENTS}/${id}/publish`);

    const deleted = await ask('DELETE', `${AGENTS}/${id}`);

    expect([deleted.status, deleted.body]).toEqual([204, null]);
    expect((await ask('GET', `${AGENTS}/${id}`)).status).toBe(404);
    expect((await ask('DELETE', `${AGENTS}/${id}`)).status).toBe(404);
    expect(await versions.findLive(id)).toBeNull();
  });
});

describe('the list of agents', () => {
  const names = (body: Json) => (body['agents'] as Json[]).map((agent) => agent['name']);

  async function setUpSeven() {
    const api = await setUpAgentApi();
    for (let i = 1; i <= 7; i++) {
      await api.createAgent({ name: `A${i}`, description: i === 3 ? 'Books (hotel) rooms' : '' });
      // Two are made within one millisecond.
      if (i !== 4) await api.clock.advance(5);
    }
    return api;
  }

  test('is newest first, with the documented fields', async () => {
    const { ask } = await setUpSeven();
    const { status, body } = await ask('GET', AGENTS);
    expect(status).toBe(200);
    expect(names(body)).toHaveLength(7);
    expect(names(body)[0]).toBe('A7');
    expect(names(body).at(-1)).toBe('A1');
    expect(body).toMatchObject({ has_more: false, next_cursor: null, total: null });
  });

  test('is read whole by following the cursor', async () => {
    const { ask } = await setUpSeven();
    const seen: unknown[] = [];
    let cursor: unknown = '';
    while (cursor !== null) {
      const { body } = await ask('GET', `${AGENTS}?page_size=2${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...names(body));
      cursor = body['next_cursor'];
    }
    expect(seen.toSorted()).toEqual(['A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'A7']);
  });

  test('is read by pages, counted', async () => {
    const { ask } = await setUpSeven();
    const { body } = await ask('GET', `${AGENTS}?page=4&page_size=2`);
    expect(names(body)).toEqual(['A1']);
    expect(body).toMatchObject({ total: 7, has_more: false });
  });

  test.each([
    ['page with cursor', '?page=1&cursor=x', 400],
    ['a cursor nobody made', '?cursor=abc', 400],
    ['an offset past 100,000 rows', '?page=1002&page_size=100', 400],
    ['page_size 0', '?page_size=0', 422],
    ['page_size 101', '?page_size=101', 422],
    ['an unknown publication state', '?publication_state=gone', 422],
  ])('refuses %s', async (_what, query, expected) => {
    const { ask } = await setUpAgentApi();
    expect((await ask('GET', `${AGENTS}${query}`)).status).toBe(expected);
  });

  test.each([
    ['a2', ['A2']],
    ['HOTEL', ['A3']],
    ['(hotel)', ['A3']],
    ['.*', []],
  ])('finds %j in names and descriptions, as text and in any case', async (search, found) => {
    const { ask } = await setUpSeven();
    const { body } = await ask('GET', `${AGENTS}?search=${encodeURIComponent(search)}&include_total=true`);
    expect(names(body)).toEqual(found);
    expect(body['total']).toBe(found.length);
  });

  test('leaves archived agents out unless asked', async () => {
    const { ask, createAgent } = await setUpAgentApi();
    const id = await createAgent();
    await ask('PATCH', `${AGENTS}/${id}`, { status: 'archived' });
    expect(names((await ask('GET', AGENTS)).body)).toEqual([]);
    expect(names((await ask('GET', `${AGENTS}?include_archived=true`)).body)).toEqual(['Desk']);
  });

  test('tells drafts from live agents', async () => {
    const { ask, createAgent } = await setUpAgentApi();
    await createAgent({ name: 'Draft' });
    const live = await createAgent({ name: 'Live' });
    await ask('POST', `${AGENTS}/${live}/publish`);
    expect(names((await ask('GET', `${AGENTS}?publication_state=live`)).body)).toEqual(['Live']);
    expect(names((await ask('GET', `${AGENTS}?publication_state=draft`)).body)).toEqual(['Draft']);
  });

  test('shows nothing of another team', async () => {
    const { ask, createAgent } = await setUpAgentApi();
    await createAgent();
    expect(names((await ask('GET', AGENTS, undefined, { key: 'other' })).body)).toEqual([]);
  });
});
