import { describe, expect, test } from 'vitest';
import { DEFAULT_VOICE_ID } from '../../shared/builtin-voices.ts';
import { type Json, setUpAgentApi } from './agents-setup.ts';

const AGENTS = '/v1/agent/agents';

async function setUp() {
  const api = await setUpAgentApi();
  const id = await api.createAgent();
  const read = async () => (await api.ask('GET', `${AGENTS}/${id}/config`)).body;
  const patch = (sent: unknown) => api.ask('PATCH', `${AGENTS}/${id}/config`, sent);
  /** What the store holds, secrets in stored form. */
  const stored = async () => {
    const doc = await api.agents.findAnywhere(id);
    if (!doc) throw new Error('agent is gone');
    return doc.config;
  };
  return { ...api, id, read, patch, stored };
}

test('a new draft has every section with its defaults', async () => {
  const { id, read } = await setUp();
  expect(await read()).toEqual({
    agent_id: id,
    config_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    updated_at: expect.any(String),
    prompt: {
      system_prompt: '',
      first_message_mode: 'prompt',
      first_message: expect.stringMatching(/\w/),
      first_message_prompt: expect.stringMatching(/\w/),
    },
    voice: { voice_id: DEFAULT_VOICE_ID, speaking_language: 'en', expressive: false, speed: 1 },
    asr: { model: 'default', multilingual: false, strict_language: false, keyterms: [] },
    conversation: {
      max_duration_seconds: 1800,
      eagerness: 'balanced',
      response_wait_ms: 550,
      response_max_wait_ms: null,
      speculative_response: true,
      interruptible: true,
      interruption_sensitivity: 'balanced',
      interruption_ignore_phrases: [],
      reengage_enabled: false,
      hangup_after_seconds: 60,
      hangup_farewell_enabled: false,
      record_audio: true,
      timezone: '',
      transfer_destinations: [],
      outbound: null,
    },
    tools: { enabled: true, tool_ids: [], system_tools: { hang_up_call: false } },
    webhooks: { post_call: [], conversation_init: null },
    knowledge_base: { enabled: false, knowledge_source_ids: [] },
    analysis: {
      summary: { enabled: true, prompt: null, language: 'en' },
      data_fields: [],
      criteria: [],
    },
    guardrails: { focus: false, manipulation: false },
    llm: { tier: 'medium', model: 'default', custom: null },
  });
});

describe('a patch', () => {
  test('is merged at every depth and answers the whole draft', async () => {
    const { patch, read } = await setUp();
    const before = await read();

    const { status, body } = await patch({
      analysis: { summary: { language: 'fr' } },
      tools: { system_tools: { hang_up_call: true } },
    });

    expect(status).toBe(200);
    expect(body['analysis']).toMatchObject({ summary: { enabled: true, prompt: null, language: 'fr' } });
    expect(body['tools']).toMatchObject({ enabled: true, system_tools: { hang_up_call: true } });
    expect(body['prompt']).toEqual(before['prompt']);
    expect(body['config_hash']).not.toBe(before['config_hash']);
    expect(await read()).toEqual(body);
  });

  test('replaces lists whole', async () => {
    const { patch } = await setUp();
    await patch({ analysis: { criteria: [{ name: 'a' }, { name: 'b', description: 'B' }] } });
    const { body } = await patch({ analysis: { criteria: [{ name: 'c' }] } });
    expect((body['analysis'] as Json)['criteria']).toEqual([{ name: 'c', description: '' }]);
  });

  test('fills in what list entries leave out', async () => {
    const { patch } = await setUp();
    const { body } = await patch({
      analysis: { data_fields: [{ name: 'age' }] },
      conversation: {
        transfer_destinations: [{ label: 'Sales', phone_number: '+15550001111' }],
        outbound: { voicemail: { action: 'hangup' } },
      },
    });
    expect((body['analysis'] as Json)['data_fields']).toEqual([
      { name: 'age', type: 'text', description: '', enum_options: [] },
    ]);
    expect(body['conversation']).toMatchObject({
      transfer_destinations: [
        {
          type: 'phone',
          label: 'Sales',
          mode: 'cold',
          on_failure: { action: 'return_to_agent', message: '' },
        },
      ],
      outbound: { amd_enabled: true, voicemail: { action: 'hangup', message: '' } },
    });
  });

  test('that changes nothing leaves draft and hash as they were', async () => {
    const { patch, read, clock } = await setUp();
    const before = await read();
    await clock.advance(1000);
    const { body } = await patch({ voice: { speed: 1 } });
    expect(body).toEqual(before);
  });

  test('takes 4000 characters of system prompt, counted as code points, and no more', async () => {
    const { patch } = await setUp();
    expect((await patch({ prompt: { system_prompt: '😀'.repeat(4000) } })).status).toBe(200);
    const { status, body } = await patch({ prompt: { system_prompt: 'x'.repeat(4001) } });
    expect(status).toBe(422);
    expect(body).toEqual([
      {
        type: 'string_too_long',
        loc: ['body', 'prompt', 'system_prompt'],
        msg: expect.any(String),
        ctx: { max_length: 4000 },
      },
    ]);
  });

  test.each(['en', 'ja', 'zh', 'ko', 'es', 'fr', 'de', 'pt', 'it', 'nl'])('takes %s', async (language) => {
    const { patch } = await setUp();
    expect((await patch({ voice: { speaking_language: language } })).status).toBe(200);
  });

  test('of 20 sent at the same time none is lost', async () => {
    const { patch, read } = await setUp();
    const fields = [
      { prompt: { system_prompt: 'p' } },
      { prompt: { first_message: 'm' } },
      { prompt: { first_message_mode: 'fixed' } },
      { voice: { speaking_language: 'nl' } },
      { voice: { speed: 1.5 } },
      { voice: { expressive: true } },
      { asr: { multilingual: true } },
      { asr: { strict_language: true } },
      { asr: { keyterms: ['Parley'] } },
      { conversation: { eagerness: 'eager' } },
      { conversation: { response_wait_ms: 300 } },
      { conversation: { interruptible: false } },
      { conversation: { record_audio: false } },
      { conversation: { timezone: 'Europe/Berlin' } },
      { tools: { enabled: false } },
      { tools: { tool_ids: ['tool1'] } },
      { guardrails: { focus: true } },
      { guardrails: { manipulation: true } },
      { llm: { tier: 'high' } },
      { analysis: { summary: { enabled: false } } },
    ];

    const replies = await Promise.all(fields.map((field) => patch(field)));

    expect(replies.map(({ status }) => status)).toEqual(fields.map(() => 200));
    const config = await read();
    for (const field of fields) expect(config).toMatchObject(field);
  });
});

describe('a refused patch', () => {
  const REFUSED: [string, Json, (string | number)[]][] = [
    ['an unknown field', { prompt: { tone: 'x' } }, ['prompt', 'tone']],
    ['null for a text', { prompt: { system_prompt: null } }, ['prompt', 'system_prompt']],
    ['null for a section', { voice: null }, ['voice']],
    ['null for a list', { tools: { tool_ids: null } }, ['tools', 'tool_ids']],
    ['an unknown language', { voice: { speaking_language: 'xx' } }, ['voice', 'speaking_language']],
    ['too slow a voice', { voice: { speed: 0.4 } }, ['voice', 'speed']],
    [
      'too short a call',
      { conversation: { max_duration_seconds: 59 } },
      ['conversation', 'max_duration_seconds'],
    ],
    [
      'too long a call',
      { conversation: { max_duration_seconds: 3601 } },
      ['conversation', 'max_duration_seconds'],
    ],
    ['too short a wait', { conversation: { response_wait_ms: 299 } }, ['conversation', 'response_wait_ms']],
    ['a zone that does not exist', { conversation: { timezone: 'Mars/Base' } }, ['conversation', 'timezone']],
    ['51 keyterms', { asr: { keyterms: Array(51).fill('x') } }, ['asr', 'keyterms']],
    ['a tool nobody has', { tools: { tool_ids: ['gone'] } }, ['tools', 'tool_ids']],
    [
      'a knowledge source nobody has',
      { knowledge_base: { knowledge_source_ids: ['gone'] } },
      ['knowledge_base', 'knowledge_source_ids'],
    ],
    [
      'a criterion with a bad name',
      { analysis: { criteria: [{ name: 'Bad' }] } },
      ['analysis', 'criteria', 0, 'name'],
    ],
    [
      'criteria of one name',
      { analysis: { criteria: [{ name: 'a' }, { name: 'a' }] } },
      ['analysis', 'criteria', 1, 'name'],
    ],
    ['a criterion without a name', { analysis: { criteria: [{}] } }, ['analysis', 'criteria', 0, 'name']],
    [
      'an enum with one option',
      { analysis: { data_fields: [{ name: 'a', type: 'enum', enum_options: ['x'] }] } },
      ['analysis', 'data_fields', 0, 'enum_options'],
    ],
    [
      'a system variable that does not exist',
      { prompt: { first_message: 'It is {{system.now}}' } },
      ['prompt', 'first_message'],
    ],
    ['a model nobody offers', { llm: { model: 'gpt-99' } }, ['llm', 'model']],
    ['a tier that does not exist', { llm: { tier: 'low' } }, ['llm', 'tier']],
    [
      'a custom model beside a tier',
      { llm: { tier: 'high', custom: { base_url: 'https://llm.example', model: 'm' } } },
      ['llm', 'custom'],
    ],
    ['a custom model without an address', { llm: { custom: { model: 'm' } } }, ['llm', 'custom', 'base_url']],
    [
      'a custom model’s address with a query',
      { llm: { custom: { base_url: 'https://llm.example/v1?x=1', model: 'm' } } },
      ['llm', 'custom', 'base_url'],
    ],
    [
      'a webhook on a private host',
      { webhooks: { post_call: [{ url: 'https://a.example' }, { url: 'https://db.internal/x' }] } },
      ['webhooks', 'post_call', 1, 'url'],
    ],
    [
      'two webhooks of one address',
      { webhooks: { post_call: [{ url: 'https://a.example' }, { url: 'https://a.example/' }] } },
      ['webhooks', 'post_call', 1, 'url'],
    ],
    [
      'six webhooks',
      { webhooks: { post_call: Array.from({ length: 6 }, (_, i) => ({ url: `https://${i}.example` })) } },
      ['webhooks', 'post_call'],
    ],
    [
      'a signing key of 257 characters',
      { webhooks: { post_call: [{ url: 'https://a.example', secret: 'x'.repeat(257) }] } },
      ['webhooks', 'post_call', 0, 'secret'],
    ],
    [
      'an inbound webhook that may take 9 s',
      { webhooks: { conversation_init: { url: 'https://a.example', timeout_seconds: 9 } } },
      ['webhooks', 'conversation_init', 'timeout_seconds'],
    ],
    [
      'an inbound webhook without an address',
      { webhooks: { conversation_init: { timeout_seconds: 3 } } },
      ['webhooks', 'conversation_init', 'url'],
    ],
  ];

  test.each(REFUSED)(
    '%s is a 422 that names the field and leaves the draft alone',
    async (_what, sent, loc) => {
      const { patch, read } = await setUp();
      const before = await read();

      const { status, body } = await patch(sent);

      expect(status).toBe(422);
      expect((body as unknown as Json[]).map((issue) => issue['loc'])).toContainEqual(['body', ...loc]);
      expect(await read()).toEqual(before);
    },
  );

  test('never shows what was sent', async () => {
    const { patch } = await setUp();
    const { body } = await patch({
      llm: { custom: { base_url: 'https://llm.internal', model: 'm', api_key: 'sk-1' } },
    });
    expect(JSON.stringify(body)).not.toMatch(/sk-1|internal/);
  });
});

describe('webhook signing keys', () => {
  const URL_A = 'https://a.example/hook';
  const withSecret = { webhooks: { post_call: [{ url: URL_A, secret: 'one' }] } };

  test('are never read back, and are sealed in the store', async () => {
    const { patch, read, stored } = await setUp();
    const { body } = await patch(withSecret);
    expect(body['webhooks']).toEqual({
      post_call: [{ url: URL_A, has_secret: true }],
      conversation_init: null,
    });
    expect(JSON.stringify(await read())).not.toContain('"one"');
    expect((await stored()).webhooks.post_call[0]?.secret).toMatch(/^[0-9a-f]{32}:v1\./);
  });

  test.each([
    ['left out', {}],
    ['null', { secret: null }],
    ['the same', { secret: 'one' }],
  ])('%s: the stored key stays, and the hash with it', async (_what, given) => {
    const { patch, stored } = await setUp();
    const before = await patch(withSecret);
    const secret = (await stored()).webhooks.post_call[0]?.secret;

    const after = await patch({ webhooks: { post_call: [{ url: URL_A, ...given }] } });

    expect((await stored()).webhooks.post_call[0]?.secret).toBe(secret);
    expect(after.body['config_hash']).toBe(before.body['config_hash']);
  });

  test('the empty string deletes the key', async () => {
    const { patch } = await setUp();
    await patch(withSecret);
    const { body } = await patch({ webhooks: { post_call: [{ url: URL_A, secret: '' }] } });
    expect((body['webhooks'] as Json)['post_call']).toEqual([{ url: URL_A, has_secret: false }]);
  });

  test('another key changes the hash', async () => {
    const { patch } = await setUp();
    const before = await patch(withSecret);
    const after = await patch({ webhooks: { post_call: [{ url: URL_A, secret: 'two' }] } });
    expect(after.body['config_hash']).not.toBe(before.body['config_hash']);
  });

  test('a key belongs to its address', async () => {
    const { patch } = await setUp();
    await patch(withSecret);
    const { body } = await patch({ webhooks: { post_call: [{ url: 'https://b.example' }, { url: URL_A }] } });
    expect((body['webhooks'] as Json)['post_call']).toEqual([
      { url: 'https://b.example', has_secret: false },
      { url: URL_A, has_secret: true },
    ]);
  });

  test('one object stands for a list of one; null and [] stop deliveries', async () => {
    const { patch } = await setUp();
    const one = await patch({ webhooks: { post_call: { url: URL_A } } });
    expect((one.body['webhooks'] as Json)['post_call']).toEqual([{ url: URL_A, has_secret: false }]);
    const none = await patch({ webhooks: { post_call: null } });
    expect((none.body['webhooks'] as Json)['post_call']).toEqual([]);
    await patch({ webhooks: { post_call: { url: URL_A } } });
    const empty = await patch({ webhooks: { post_call: [] } });
    expect((empty.body['webhooks'] as Json)['post_call']).toEqual([]);
  });

  test('the inbound webhook is merged, keeps its key for its address, and is removed by null', async () => {
    const { patch } = await setUp();
    const inbound = async (given: unknown) =>
      ((await patch({ webhooks: { conversation_init: given } })).body['webhooks'] as Json)[
        'conversation_init'
      ];

    expect(await inbound({ url: URL_A, secret: 's' })).toEqual({
      url: URL_A,
      has_secret: true,
      timeout_seconds: 5,
    });
    expect(await inbound({ timeout_seconds: 2 })).toEqual({
      url: URL_A,
      has_secret: true,
      timeout_seconds: 2,
    });
    expect(await inbound({ url: 'https://b.example' })).toEqual({
      url: 'https://b.example',
      has_secret: false,
      timeout_seconds: 2,
    });
    expect(await inbound(null)).toBeNull();
  });
});

describe('a custom model', () => {
  const custom = { base_url: 'https://llm.example/v1/chat/completions', model: 'm', api_key: 'sk-secret' };

  test('is stored without the path clients add, its key write-only', async () => {
    const { patch, id, lookup } = await setUp();
    const { body } = await patch({ llm: { custom } });
    expect((body['llm'] as Json)['custom']).toEqual({
      base_url: 'https://llm.example/v1',
      model: 'm',
      api_key: null,
    });
    const runnable = await lookup.draftConfig(id);
    expect(runnable?.config.llm.custom?.api_key).toBe('sk-secret');
  });

  test('keeps its key when the key is left out or null, loses it by the empty string', async () => {
    const { patch, id, lookup } = await setUp();
    const keyNow = async () => (await lookup.draftConfig(id))?.config.llm.custom?.api_key;
    await patch({ llm: { custom } });
    await patch({ llm: { custom: { model: 'm2' } } });
    expect(await keyNow()).toBe('sk-secret');
    await patch({ llm: { custom: { api_key: null } } });
    expect(await keyNow()).toBe('sk-secret');
    await patch({ llm: { custom: { api_key: '' } } });
    expect(await keyNow()).toBeNull();
  });

  test('is taken away by null', async () => {
    const { patch } = await setUp();
    await patch({ llm: { custom } });
    const { body } = await patch({ llm: { custom: null } });
    expect((body['llm'] as Json)['custom']).toBeNull();
  });

  test('a model of the settings can be chosen by name', async () => {
    const { patch } = await setUp();
    const { body } = await patch({ llm: { model: 'house-model' } });
    expect((body['llm'] as Json)['model']).toBe('house-model');
  });

  test('workers never get webhook keys', async () => {
    const { patch, id, lookup } = await setUp();
    await patch({ webhooks: { post_call: { url: 'https://a.example', secret: 'one' } } });
    expect((await lookup.draftConfig(id))?.config.webhooks.post_call).toEqual([
      { url: 'https://a.example', secret: null },
    ]);
  });
});

test('knowledge sources named without the switch turn it on', async () => {
  const { patch } = await setUp();
  const on = await patch({ knowledge_base: { knowledge_source_ids: ['source1'] } });
  expect(on.body['knowledge_base']).toEqual({ enabled: true, knowledge_source_ids: ['source1'] });
  const off = await patch({ knowledge_base: { enabled: false, knowledge_source_ids: ['source1'] } });
  expect(off.body['knowledge_base']).toMatchObject({ enabled: false });
});
