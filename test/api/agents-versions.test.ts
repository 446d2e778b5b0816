import { describe, expect, test } from 'vitest';
import { type Json, setUpAgentApi } from './agents-setup.ts';

const AGENTS = '/v1/agent/agents';

async function setUp() {
  const api = await setUpAgentApi();
  const id = await api.createAgent();
  const path = `${AGENTS}/${id}`;
  const publish = (body?: unknown) => api.ask('POST', `${path}/publish`, body);
  const say = (text: string) => api.ask('PATCH', `${path}/config`, { prompt: { system_prompt: text } });
  return { ...api, id, path, publish, say };
}

describe('publishing', () => {
  test('works without a body and without a content type, and makes the agent live', async () => {
    const { ask, path, publish } = await setUp();

    const { status, body } = await publish();

    expect(status).toBe(200);
    expect(body).toEqual({
      version_number: 1,
      version_title: null,
      version_description: null,
      config_hash: (await ask('GET', `${path}/config`)).body['config_hash'],
      published_at: expect.any(String),
    });
    expect((await ask('GET', path)).body['publication_state']).toBe('live');
  });

  test('takes a title and a description', async () => {
    const { publish } = await setUp();
    const { body } = await publish({ version_title: 'First', version_description: 'Says hello' });
    expect(body).toMatchObject({ version_title: 'First', version_description: 'Says hello' });
  });

  test('refuses a title of 121 characters', async () => {
    const { publish } = await setUp();
    expect((await publish({ version_title: 'x'.repeat(121) })).status).toBe(422);
  });

  test('an unchanged draft answers the live version as it is', async () => {
    const { publish, clock } = await setUp();
    const first = await publish({ version_title: 'First' });
    await clock.advance(1000);
    expect((await publish({ version_title: 'Again' })).body).toEqual(first.body);
  });

  test('a changed draft gets the next number, and going back to an older one is a change', async () => {
    const { publish, say } = await setUp();
    const numbers: unknown[] = [];
    for (const text of ['a', 'b', 'a']) {
      await say(text);
      numbers.push((await publish()).body['version_number']);
    }
    expect(numbers).toEqual([1, 2, 3]);
  });

  test('a rotated secret is a change', async () => {
    const { publish, ask, path } = await setUp();
    const rotate = (secret: string) =>
      ask('PATCH', `${path}/config`, { webhooks: { post_call: { url: 'https://a.example', secret } } });
    await rotate('one');
    await publish();
    await rotate('two');
    expect((await publish()).body['version_number']).toBe(2);
  });

  test('many at once number versions without gaps or repeats', async () => {
    const { publish, say, ask, path } = await setUp();

    const replies = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => {
        await say(`text ${i}`);
        return publish();
      }),
    );

    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const { body } = await ask('GET', `${path}/versions?include_total=true`);
    const versions = body['versions'] as Json[];
    const numbers = versions.map((version) => Number(version['version_number']));
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => numbers.length - i));
    expect(body['total']).toBe(numbers.length);
    for (const reply of replies) expect(versions).toContainEqual(reply.body);
    const draft = (await ask('GET', `${path}/config`)).body;
    expect((await publish()).body['config_hash']).toBe(draft['config_hash']);
  });

  test('two at once of one draft make one version, and both answer it', async () => {
    const { publish } = await setUp();
    const [one, other] = await Promise.all([
      publish({ version_title: 'One' }),
      publish({ version_title: 'Other' }),
    ]);
    expect(one.body['version_number']).toBe(1);
    expect(other.body).toEqual(one.body);
  });

  test('freezes the configuration: later drafts don’t reach it', async () => {
    const { ask, path, publish, say, lookup, id } = await setUp();
    await say('frozen');
    await publish();
    await say('draft');

    expect((await lookup.publishedConfig(id))?.config.prompt.system_prompt).toBe('frozen');
    const { status, body } = await ask('GET', `${path}/versions/1`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      version_number: 1,
      config: { agent_id: id, prompt: { system_prompt: 'frozen' } },
    });
    expect((body['config'] as Json)['config_hash']).toBe(body['config_hash']);
  });

  test('an agent that was never published has no live version', async () => {
    const { lookup, id } = await setUp();
    expect(await lookup.publishedConfig(id)).toBeNull();
  });
});

describe('versions', () => {
  test('never show secrets', async () => {
    const { ask, path, publish } = await setUp();
    await ask('PATCH', `${path}/config`, {
      webhooks: { post_call: { url: 'https://a.example', secret: 'hush-1' } },
      llm: { custom: { base_url: 'https://llm.example', model: 'm', api_key: 'hush-2' } },
    });
    await publish();
    const { body } = await ask('GET', `${path}/versions/1`);
    expect(body['config']).toMatchObject({
      webhooks: { post_call: [{ url: 'https://a.example', has_secret: true }] },
      llm: { custom: { api_key: null } },
    });
    expect(JSON.stringify(body)).not.toMatch(/hush|v1\./);
  });

  test.each(['2', '0', '-1', '1.5', 'latest', '01', '99999999999999999999'])(
    'version %s is a 404',
    async (number) => {
      const { ask, path, publish } = await setUp();
      await publish();
      expect((await ask('GET', `${path}/versions/${number}`)).status).toBe(404);
    },
  );

  test('are listed newest first, in pages', async () => {
    const { ask, path, publish, say } = await setUp();
    for (const text of ['a', 'b', 'c']) {
      await say(text);
      await publish({ version_title: text });
    }
    const first = (await ask('GET', `${path}/versions?page_size=2`)).body;
    expect((first['versions'] as Json[]).map((v) => v['version_title'])).toEqual(['c', 'b']);
    const rest = (await ask('GET', `${path}/versions?page_size=2&cursor=${first['next_cursor']}`)).body;
    expect((rest['versions'] as Json[]).map((v) => v['version_title'])).toEqual(['a']);
    expect(rest).toMatchObject({ has_more: false, next_cursor: null });
  });
});
