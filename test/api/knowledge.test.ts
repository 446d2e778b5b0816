import { describe, expect, test } from 'vitest';
import type { Json } from './agents-setup.ts';
import { AGENTS, locsOf, type Materials, SOURCES, setUpMaterials } from './tools-setup.ts';

const TEXT = '# Hours\n\nWe are open from 9 to 5.\n';
const file = (bytes: string | Uint8Array = TEXT, name = 'hours.md', type = 'text/markdown') => ({
  name,
  bytes,
  type,
});

describe('creating a knowledge source', () => {
  test('answers its detail with the whole text', async () => {
    const { send, ask } = await setUpMaterials();

    const { status, body } = await send('POST', SOURCES, {
      source: file(),
      name: 'Hours',
      description: 'When',
    });

    expect(status).toBe(201);
    expect(body).toEqual({
      knowledge_source_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      workspace_id: 'w1',
      name: 'Hours',
      description: 'When',
      file_name: 'hours.md',
      size_bytes: TEXT.length,
      chunk_count: 1,
      revision_number: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      content: TEXT,
    });
    expect((await ask('GET', `${SOURCES}/${body['knowledge_source_id']}`)).body).toEqual(body);
  });

  test('takes the file’s name when no name is given', async () => {
    const { send } = await setUpMaterials();
    const { body } = await send('POST', SOURCES, { source: file('x', 'Öffnungszeiten 2.txt') });
    expect(body).toMatchObject({
      name: 'Öffnungszeiten 2.txt',
      file_name: 'Öffnungszeiten 2.txt',
      description: '',
    });
  });

  test('needs beta access', async () => {
    const { send } = await setUpMaterials();
    const { status, body } = await send('POST', SOURCES, { source: file() }, 'nobeta');
    expect(status).toBe(403);
    expect(body['message']).toMatch(/beta/);
  });

  test.each([
    ['notes.txt', 'text/plain', 'plain'],
    ['NOTES.MD', 'application/octet-stream', 'upper case'],
    ['notes.markdown', 'text/markdown', 'long ending'],
    ['notes', 'text/plain', 'no ending'],
    ['v1.2 notes', 'text/plain', 'a dot in the name'],
  ])('takes a file named %s', async (name, type, text) => {
    const { send } = await setUpMaterials();
    const { status, body } = await send('POST', SOURCES, { source: file(text, name, type) });
    expect(status).toBe(201);
    expect(body['content']).toBe(text);
  });

  test.each<[string, string | Uint8Array, string]>([
    ['with text that isn’t UTF-8', Buffer.from('caf\xe9', 'latin1'), 'a.txt'],
    ['in UTF-16', Buffer.from('\ufeffhello', 'utf16le'), 'a.txt'],
    ['with binary content', Buffer.from([0x25, 0x50, 0x44, 0x46, 0, 1, 2]), 'a.txt'],
    ['with a zero byte', 'a\0b', 'a.txt'],
    ['that is a PDF by name', 'text', 'a.pdf'],
    ['that is HTML by name', '<p>text', 'a.html'],
    ['that is empty', '', 'a.txt'],
    ['of white space', ' \n\t\r\n', 'a.txt'],
    ['of a byte order mark alone', Buffer.from([0xef, 0xbb, 0xbf]), 'a.txt'],
    ['of a byte more than 1 MB', 'x'.repeat(1_048_577), 'a.txt'],
    ['of 5 MB', 'x'.repeat(5_000_000), 'a.txt'],
    ['of 20 MB', 'x'.repeat(20_000_000), 'a.txt'],
  ])('refuses a file %s with 400', async (_what, bytes, name) => {
    const { send, ask } = await setUpMaterials();
    const { status, body } = await send('POST', SOURCES, { source: file(bytes, name) });
    expect(status).toBe(400);
    expect(body).toMatchObject({ status: 400, message: expect.any(String) });
    expect((await ask('GET', SOURCES)).body['knowledge_sources']).toEqual([]);
  });

  test('takes 1 MB, line ends as they are, and drops a byte order mark', async () => {
    const { send } = await setUpMaterials();
    const text = `a\r\nb\t${'ü'.repeat(1000)}`;
    const marked = await send('POST', SOURCES, { source: file(`\ufeff${text}`, 'a.txt') });
    expect(marked.body['content']).toBe(text);
    const large = await send('POST', SOURCES, { source: file('x'.repeat(1_048_576), 'a.txt') });
    expect(large.status).toBe(201);
    expect(large.body['size_bytes']).toBe(1_048_576);
  });

  test.each<[string, Parameters<Materials['send']>[2], string]>([
    ['no file', { name: 'x' }, 'source'],
    ['text where the file belongs', { source: 'text' }, 'source'],
    ['a file where text belongs', { source: file(), name: file() }, 'name'],
    ['an empty name', { source: file(), name: '' }, 'name'],
    ['a name of 256 characters', { source: file(), name: 'x'.repeat(256) }, 'name'],
    ['a description of 2,001', { source: file(), description: 'x'.repeat(2001) }, 'description'],
    ['an unknown field', { source: file(), colour: 'red' }, 'colour'],
    ['an unknown file', { source: file(), picture: file() }, 'picture'],
  ])('refuses %s with 422', async (_what, fields, loc) => {
    const { send } = await setUpMaterials();
    const { status, body } = await send('POST', SOURCES, fields);
    expect(status).toBe(422);
    expect(locsOf(body)).toEqual([loc]);
  });

  test('refuses a field given twice with 422', async () => {
    const { server } = await setUpMaterials();
    const form = new FormData();
    form.append('source', new Blob([TEXT]), 'a.txt');
    form.append('name', 'one');
    form.append('name', 'two');
    const reply = await fetch(`${server.baseUrl}${SOURCES}`, {
      method: 'POST',
      body: form,
      headers: { authorization: 'Bearer good' },
    });
    expect(reply.status).toBe(422);
    expect(locsOf(await reply.json())).toEqual(['name']);
  });
});

describe('an upload that is no form', () => {
  async function post(body: string | null, contentType: string | null) {
    const { server } = await setUpMaterials();
    const reply = await fetch(`${server.baseUrl}${SOURCES}`, {
      method: 'POST',
      ...(body === null ? {} : { body: new TextEncoder().encode(body) }),
      headers: {
        authorization: 'Bearer good',
        ...(contentType === null ? {} : { 'content-type': contentType }),
      },
    });
    return { status: reply.status, text: await reply.text() };
  }

  test.each([
    ['JSON', '{}', 'application/json'],
    ['a form of another type', 'name=x', 'application/x-www-form-urlencoded'],
    ['a body without a content type', 'x', null],
    ['nothing', null, 'multipart/form-data; boundary=x'],
  ])('%s is a bare 415', async (_what, body, contentType) => {
    expect(await post(body, contentType)).toEqual({ status: 415, text: '' });
  });

  test.each([
    ['without a boundary', 'x', 'multipart/form-data'],
    ['with another boundary', '--y\r\n', 'multipart/form-data; boundary=x'],
    [
      'cut short',
      '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nhal',
      'multipart/form-data; boundary=x',
    ],
    [
      'with a part without a name',
      '--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--\r\n',
      'multipart/form-data; boundary=x',
    ],
    [
      'of 60 parts',
      `${'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\na\r\n'.repeat(60)}--x--\r\n`,
      'multipart/form-data; boundary=x',
    ],
  ])('%s is a 400', async (_what, body, contentType) => {
    const { status, text } = await post(body, contentType);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual({ status: 400, message: 'Malformed multipart body', reason: null });
  });
});

describe('changing a knowledge source', () => {
  test('a new file is the next revision; name and description stay', async () => {
    const { send, createSource, clock } = await setUpMaterials();
    const id = await createSource(TEXT);
    await clock.advance(1000);
    const { status, body } = await send('PATCH', `${SOURCES}/${id}`, { source: file('New text', 'new.txt') });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'notes.md',
      file_name: 'new.txt',
      revision_number: 2,
      size_bytes: 8,
      content: 'New text',
    });
    expect(body['updated_at']).not.toBe(body['created_at']);
  });

  test('name and description alone keep the revision; "" clears the description', async () => {
    const { send, createSource } = await setUpMaterials();
    const path = `${SOURCES}/${await createSource(TEXT)}`;
    await send('PATCH', path, { name: 'N', description: 'D' });
    const { body } = await send('PATCH', path, { description: '' });
    expect(body).toMatchObject({ name: 'N', description: '', revision_number: 1, content: TEXT });
  });

  test('an empty form changes nothing', async () => {
    const { send, createSource } = await setUpMaterials();
    const { status, body } = await send('PATCH', `${SOURCES}/${await createSource(TEXT)}`, {});
    expect(status).toBe(200);
    expect(body).toMatchObject({ revision_number: 1, content: TEXT });
  });

  test('a bad file is a 400 and changes nothing', async () => {
    const { send, createSource, ask } = await setUpMaterials();
    const path = `${SOURCES}/${await createSource(TEXT)}`;
    expect((await send('PATCH', path, { source: file('', 'a.txt'), name: 'N' })).status).toBe(400);
    expect((await ask('GET', path)).body).toMatchObject({ name: 'notes.md', content: TEXT });
  });

  test('JSON is a bare 415', async () => {
    const { ask, createSource } = await setUpMaterials();
    expect(await ask('PATCH', `${SOURCES}/${await createSource(TEXT)}`, { name: 'N' })).toMatchObject({
      status: 415,
      body: null,
    });
  });

  test('parallel files get consecutive revision numbers', async () => {
    const { send, createSource } = await setUpMaterials();
    const path = `${SOURCES}/${await createSource(TEXT)}`;
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => send('PATCH', path, { source: file(`text ${i}`) })),
    );
    const numbers = replies.map(({ body }) => Number(body['revision_number']));
    expect(numbers.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    replies.forEach(({ body }, i) => {
      expect(body['content']).toBe(`text ${i}`);
    });
  });
});

describe('the list of knowledge sources', () => {
  const namesOf = (body: Json) => (body['knowledge_sources'] as Json[]).map(({ name }) => name);

  async function withSources() {
    const api = await setUpMaterials();
    for (const [name, fileName] of [
      ['Hours', 'a.md'],
      ['Prices', 'list.txt'],
      ['Travel', 'HOURS.txt'],
    ] as const) {
      await api.send('POST', SOURCES, { source: file(TEXT, fileName), name });
      await api.clock.advance(1000);
    }
    return api;
  }

  test('is newest first, without texts', async () => {
    const { ask } = await withSources();
    const { body } = await ask('GET', SOURCES);
    expect(namesOf(body)).toEqual(['Travel', 'Prices', 'Hours']);
    expect(body).toMatchObject({ has_more: false, next_cursor: null, total: null });
    expect(JSON.stringify(body)).not.toContain('9 to 5');
  });

  test('is paged by cursor and by page', async () => {
    const { ask } = await withSources();
    const first = (await ask('GET', `${SOURCES}?page_size=2&include_total=true`)).body;
    expect(first).toMatchObject({ has_more: true, total: 3 });
    expect(namesOf((await ask('GET', `${SOURCES}?page_size=2&cursor=${first['next_cursor']}`)).body)).toEqual(
      ['Hours'],
    );
    expect(namesOf((await ask('GET', `${SOURCES}?page_size=2&page=2`)).body)).toEqual(['Hours']);
    expect((await ask('GET', `${SOURCES}?page=1&cursor=${first['next_cursor']}`)).status).toBe(400);
  });

  test('is searched by name and file name in any case', async () => {
    const { ask } = await withSources();
    expect(namesOf((await ask('GET', `${SOURCES}?search=hours`)).body)).toEqual(['Travel', 'Hours']);
    expect(namesOf((await ask('GET', `${SOURCES}?search=LIST`)).body)).toEqual(['Prices']);
    expect(namesOf((await ask('GET', `${SOURCES}?search=.`)).body)).toHaveLength(3);
  });
});

describe('a knowledge source that agents use', () => {
  const conflict = /^Knowledge source is attached to 1 agent\(s\)/;

  test('can’t be deleted while a draft has it', async () => {
    const { createSource, createAgent, useSources, ask } = await setUpMaterials();
    const id = await createSource(TEXT);
    const agent = await createAgent();
    await useSources(agent, id);

    const { status, body } = await ask('DELETE', `${SOURCES}/${id}`);
    expect(status).toBe(409);
    expect(body['message']).toMatch(conflict);
    expect((await ask('GET', `${SOURCES}/${id}/agents`)).body).toEqual({
      agents: [{ agent_id: agent, name: 'Desk' }],
      total: 1,
    });

    await useSources(agent);
    expect((await ask('DELETE', `${SOURCES}/${id}`)).status).toBe(204);
    expect((await ask('GET', `${SOURCES}/${id}`)).status).toBe(404);
  });

  test('can’t be deleted while a live version has it, though no draft does', async () => {
    const { createSource, createAgent, useSources, publish, ask } = await setUpMaterials();
    const id = await createSource(TEXT);
    const agent = await createAgent();
    await useSources(agent, id);
    await publish(agent);
    await useSources(agent);

    const { status, body } = await ask('DELETE', `${SOURCES}/${id}`);
    expect(status).toBe(409);
    expect(body['message']).toMatch(conflict);
    expect((await ask('GET', `${SOURCES}/${id}/agents`)).body['total']).toBe(1);

    await publish(agent);
    expect((await ask('DELETE', `${SOURCES}/${id}`)).status).toBe(204);
  });

  test('counts once where draft and live version have it, and goes free with its agent', async () => {
    const { createSource, createAgent, useSources, publish, ask } = await setUpMaterials();
    const id = await createSource(TEXT);
    const agent = await createAgent();
    await useSources(agent, id);
    await publish(agent);
    expect((await ask('DELETE', `${SOURCES}/${id}`)).body['message']).toMatch(conflict);
    await ask('DELETE', `${AGENTS}/${agent}`);
    expect((await ask('DELETE', `${SOURCES}/${id}`)).status).toBe(204);
  });

  test('must be of the agent’s workspace', async () => {
    const { send, createAgent, useSources } = await setUpMaterials();
    const foreign = await send('POST', SOURCES, { source: file() }, 'other');
    for (const id of ['nobody', String(foreign.body['knowledge_source_id'])]) {
      const { status, body } = await useSources(await createAgent(), id);
      expect(status).toBe(422);
      expect(locsOf(body)).toEqual(['knowledge_base.knowledge_source_ids']);
    }
  });
});

test.each([
  ['GET', ''],
  ['PATCH', ''],
  ['DELETE', ''],
  ['GET', '/agents'],
])(
  '%s of another team’s source%s is the same 404 as of a missing one; no key is a bare 401',
  async (method, sub) => {
    const { ask, send, createSource } = await setUpMaterials();
    const id = await createSource(TEXT);
    const call = (of: string) =>
      method === 'PATCH'
        ? send(method, `${SOURCES}/${of}`, { name: 'Mine' }, 'other')
        : ask(method, `${SOURCES}/${of}${sub}`, undefined, { key: 'other' });

    const foreign = await call(id);

    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual((await call('0'.repeat(32))).body);
    expect(await ask(method, `${SOURCES}/${id}${sub}`, undefined, { key: null })).toMatchObject({
      status: 401,
      body: null,
    });
    expect((await ask('GET', `${SOURCES}/${id}`)).body['name']).toBe('notes.md');
    expect((await ask('GET', SOURCES, undefined, { key: 'other' })).body['knowledge_sources']).toEqual([]);
  },
);
