import { describe, expect, test } from 'vitest';
import type { Json } from './agents-setup.ts';
import { MINUTE_MICROS, SESSIONS, setUpSessionApi } from './sessions-setup.ts';

/** The one spec the worker got. */
function onlySpec(api: Awaited<ReturnType<typeof setUpSessionApi>>) {
  const [spec, ...others] = api.dispatch.specs;
  if (!spec || others.length > 0) throw new Error(`${api.dispatch.specs.length} sessions were placed`);
  return spec;
}

describe('starting a session with a key', () => {
  test('answers the six fields of a join token', async () => {
    const api = await setUpSessionApi();
    const agentId = await api.publishedAgent({}, { conversation: { max_duration_seconds: 120 } });

    const { status, body } = await api.ask('POST', SESSIONS, { agent_id: agentId });

    expect(status).toBe(201);
    expect(body).toEqual({
      session_id: expect.stringMatching(/^ses_[0-9a-hjkmnp-tv-z]{26}$/),
      expires_at: new Date(api.clock.nowMs() + 300_000).toISOString(),
      max_duration_seconds: 120,
      transport: 'rtc',
      rtc_url: 'ws://worker.example',
      token: `token-of-${body['session_id']}`,
    });
  });

  test('signs a token that lasts for the longest call and a reconnect', async () => {
    const api = await setUpSessionApi();
    const agentId = await api.publishedAgent({}, { conversation: { max_duration_seconds: 120 } });
    const sessionId = await api.startSession({ agent_id: agentId });
    expect(api.dispatch.grants).toEqual([
      {
        grant: { sessionId, workerId: 'wk1', identity: 'caller', name: '' },
        expiresAtMs: api.clock.nowMs() + 300_000 + 120_000 + 15_000,
      },
    ]);
  });

  test('charges one minute', async () => {
    const api = await setUpSessionApi({ creditMicros: 1_000_000 });
    await api.startSession();
    expect(await api.balance()).toBe(1_000_000 - MINUTE_MICROS);
  });

  test('the record reads back what was sent', async () => {
    const api = await setUpSessionApi();
    const metadata = { 'a.b': { $x: [1, null, 'ü'] }, deep: { er: true } };
    const agentId = await api.publishedAgent();
    const sessionId = await api.startSession({
      agent_id: agentId,
      name: 'Test call',
      timezone: 'Europe/Berlin',
      metadata,
      end_user_id: 'u-7',
    });
    expect(await api.read(sessionId)).toEqual({
      session_id: sessionId,
      agent_id: agentId,
      agent_name: 'Desk',
      name: 'Test call',
      status: 'pending',
      end_reason: null,
      source: 'api_key',
      direction: 'inbound',
      dial_status: null,
      answered_by: null,
      caller_number: null,
      dialed_number: null,
      timezone: 'Europe/Berlin',
      created_at: new Date(api.clock.nowMs()).toISOString(),
      started_at: null,
      ended_at: null,
      duration_seconds: null,
      metadata,
      unattributed_llm_usage: [],
      items: [],
      analysis: null,
    });
    expect(onlySpec(api).endUserId).toBe('u-7');
  });

  test.each([
    ['an agent that doesn’t exist', 404, 'Agent not found'],
    ['another team’s agent', 404, 'Agent not found'],
    ['an agent that was never published', 409, 'Agent has no published version'],
  ])('with %s is %i', async (what, status, message) => {
    const api = await setUpSessionApi();
    const created = await api.ask('POST', '/v1/agent/agents', { name: 'Draft' });
    const ids: Record<string, string> = {
      'another team’s agent': await api.publishedAgent(),
      'an agent that was never published': String(created.body['agent_id']),
    };
    const key = what.startsWith('another') ? 'other' : 'good';
    const reply = await api.ask('POST', SESSIONS, { agent_id: ids[what] ?? 'f'.repeat(32) }, { key });
    expect([reply.status, reply.body['message']]).toEqual([status, message]);
    expect(api.dispatch.specs).toEqual([]);
  });

  test('without credit is 402, and leaves neither charge nor record', async () => {
    const api = await setUpSessionApi({ creditMicros: MINUTE_MICROS - 1 });
    const reply = await api.ask('POST', SESSIONS, { agent_id: await api.publishedAgent() });
    expect(reply.status).toBe(402);
    expect(reply.body).toMatchObject({ status: 402, message: 'Out of API credit' });
    expect(await api.balance()).toBe(MINUTE_MICROS - 1);
    expect((await api.ask('GET', SESSIONS)).body['sessions']).toEqual([]);
  });

  test('that no worker takes is 502, and leaves neither charge nor record', async () => {
    const api = await setUpSessionApi({ creditMicros: 1_000_000 });
    api.dispatch.isReachable = false;
    const reply = await api.ask('POST', SESSIONS, { agent_id: await api.publishedAgent() });
    expect([reply.status, reply.body['message']]).toEqual([502, 'Agent gateway is unreachable']);
    expect(await api.balance()).toBe(1_000_000);
    expect((await api.ask('GET', SESSIONS)).body['sessions']).toEqual([]);
  });

  test('whose token can’t be signed gives slot and charge back', async () => {
    const api = await setUpSessionApi({ creditMicros: 1_000_000 });
    api.dispatch.canSign = false;
    const reply = await api.ask('POST', SESSIONS, { agent_id: await api.publishedAgent() });
    expect(reply.status).toBe(500);
    expect(await api.balance()).toBe(1_000_000);
    expect(api.dispatch.released).toEqual([onlySpec(api).sessionId]);
  });

  test('50 at once on credit for 10 start exactly 10', async () => {
    const api = await setUpSessionApi({ creditMicros: 10 * MINUTE_MICROS + 1 });
    const agentId = await api.publishedAgent();

    const replies = await Promise.all(
      Array.from({ length: 50 }, () => api.ask('POST', SESSIONS, { agent_id: agentId })),
    );

    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(10);
    expect(statuses.filter((status) => status === 402)).toHaveLength(40);
    expect(await api.balance()).toBe(1);
    expect(api.dispatch.specs).toHaveLength(10);
    const listed = await api.ask('GET', `${SESSIONS}?page=1&page_size=100`);
    expect(listed.body['total']).toBe(10);
  });
});

describe('a session body', () => {
  const REFUSED: [string, Json, number, (string | number)[] | null][] = [
    ['no agent', { agent_id: undefined }, 422, ['body', 'agent_id']],
    ['an unknown field', { colour: 1 }, 422, ['body', 'colour']],
    ['an unknown language', { language: 'ru' }, 422, ['body', 'language']],
    [
      'an unknown override language',
      { overrides: { language: 'xx' } },
      422,
      ['body', 'overrides', 'language'],
    ],
    ['an unknown override', { overrides: { tools: [] } }, 422, ['body', 'overrides', 'tools']],
    [
      'both kinds of first message',
      { overrides: { first_message: 'a', first_message_prompt: 'b' } },
      422,
      ['body', 'overrides', 'first_message_prompt'],
    ],
    [
      'a system prompt of 4001 characters',
      { overrides: { system_prompt: 'x'.repeat(4001) } },
      422,
      ['body', 'overrides', 'system_prompt'],
    ],
    [
      'an unknown system variable in an override',
      { overrides: { system_prompt: '{{system.now}}' } },
      422,
      ['body', 'overrides', 'system_prompt'],
    ],
    ['a zone that doesn’t exist', { timezone: 'Mars/Base' }, 422, ['body', 'timezone']],
    ['an offset for a zone', { timezone: '+01:00' }, 422, ['body', 'timezone']],
    ['a name of 129 characters', { name: 'x'.repeat(129) }, 422, ['body', 'name']],
    ['a user id of 257 characters', { end_user_id: 'x'.repeat(257) }, 422, ['body', 'end_user_id']],
    ['metadata that is a list', { metadata: [] }, 422, ['body', 'metadata']],
    [
      'a variable with a bad name',
      { dynamic_variables: { '1a': 'x' } },
      422,
      ['body', 'dynamic_variables', '1a'],
    ],
    ['a variable that is a list', { dynamic_variables: { a: [] } }, 422, ['body', 'dynamic_variables', 'a']],
    ['a variable that is null', { dynamic_variables: { a: null } }, 422, ['body', 'dynamic_variables', 'a']],
    [
      'a variable of 1001 characters',
      { dynamic_variables: { a: 'x'.repeat(1001) } },
      422,
      ['body', 'dynamic_variables', 'a'],
    ],
    ['an override that the agent doesn’t allow', { overrides: { voice_id: 'v' } }, 400, null],
    ['a language override that the agent doesn’t allow', { overrides: { language: 'fr' } }, 400, null],
  ];

  test.each(REFUSED)('with %s is refused', async (_what, sent, status, loc) => {
    const api = await setUpSessionApi();
    const reply = await api.ask('POST', SESSIONS, { agent_id: await api.publishedAgent(), ...sent });
    expect(reply.status).toBe(status);
    if (loc) expect((reply.body as unknown as Json[]).map((issue) => issue['loc'])).toContainEqual(loc);
    expect(api.dispatch.specs).toEqual([]);
  });

  test('null stands for nothing where the field is optional', async () => {
    const api = await setUpSessionApi();
    const nothing = ['name', 'timezone', 'client_timezone', 'overrides', 'dynamic_variables', 'end_user_id'];
    const sent = Object.fromEntries([...nothing, 'metadata', 'record_audio'].map((field) => [field, null]));
    const sessionId = await api.startSession({ agent_id: await api.publishedAgent(), ...sent });
    expect(await api.read(sessionId)).toMatchObject({ name: null, metadata: {}, timezone: null });
  });

  test('the first 50 variables are read', async () => {
    const api = await setUpSessionApi();
    const agentId = await api.publishedAgent({}, { prompt: { system_prompt: '{{v49}} {{v50}}' } });
    const variables = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`v${i}`, i]));
    await api.startSession({ agent_id: agentId, dynamic_variables: variables });
    expect(onlySpec(api).systemPrompt).toBe('49 {{v50}}');
  });
});

describe('what the worker is told', () => {
  const CONFIG = {
    prompt: {
      system_prompt: 'Speak {{system.language}} to {{name}} on {{system.channel}}, {{system.today}}.',
      first_message_mode: 'fixed',
      first_message: 'Hello {{name}}{{missing}}',
      first_message_prompt: 'Greet {{name}}',
    },
    voice: { speaking_language: 'de', voice_id: 'voice-a' },
    conversation: { timezone: 'Asia/Tokyo', record_audio: true },
  };

  async function specFor(body: Json, agent: Json = {}) {
    const api = await setUpSessionApi();
    const agentId = await api.publishedAgent(agent, CONFIG);
    await api.startSession({ agent_id: agentId, dynamic_variables: { name: 'Ana' }, ...body });
    return { spec: onlySpec(api), api };
  }

  test('is the published configuration with variables filled in', async () => {
    const { spec, api } = await specFor({});
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Tokyo' }).format(api.clock.nowMs());
    expect(spec).toMatchObject({
      workspaceId: 'w1',
      agentName: 'Desk',
      systemPrompt: `Speak de to Ana on web_voice, ${today}.`,
      firstMessageMode: 'fixed',
      firstMessage: 'Hello Ana{{missing}}',
      firstMessagePrompt: 'Greet Ana',
      language: 'de',
      voiceId: 'voice-a',
      timezone: 'Asia/Tokyo',
      worldContext: true,
      toolEvents: true,
      recordAudio: true,
      source: 'api_key',
      maxDurationS: 1800,
      reconnectWindowMs: 15_000,
      joinDeadlineMs: api.clock.nowMs() + 300_000,
      knowledgeText: '',
    });
    expect(spec.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
    expect(JSON.parse(spec.agentConfigJson)).toMatchObject({ prompt: CONFIG.prompt });
  });

  test('takes the language of the request without an allow entry', async () => {
    const { spec } = await specFor({ language: 'fr' });
    expect(spec.language).toBe('fr');
  });

  test('takes every override the agent allows, over the language of the request', async () => {
    const overrides = {
      first_message: 'Hi {{name}}',
      system_prompt: 'Only {{name}}.',
      voice_id: 'voice-b',
      language: 'es',
    };
    const { spec } = await specFor(
      { overrides, language: 'fr' },
      { overrides_allowed: ['first_message', 'system_prompt', 'voice_id', 'language'] },
    );
    expect(spec).toMatchObject({
      firstMessageMode: 'fixed',
      firstMessage: 'Hi Ana',
      systemPrompt: 'Only Ana.',
      voiceId: 'voice-b',
      language: 'es',
    });
  });

  test('a prompt for the first message is governed by first_message and switches the mode', async () => {
    const { spec } = await specFor(
      { overrides: { first_message_prompt: 'Sing for {{name}}' } },
      { overrides_allowed: ['first_message'] },
    );
    expect(spec).toMatchObject({ firstMessageMode: 'prompt', firstMessagePrompt: 'Sing for Ana' });
  });

  test.each([
    ['the request’s zone first', { timezone: 'Europe/Paris', client_timezone: 'Asia/Seoul' }, 'Europe/Paris'],
    ['the agent’s zone before the client’s', { client_timezone: 'Asia/Seoul' }, 'Asia/Tokyo'],
  ])('%s', async (_what, body, timezone) => {
    const { spec } = await specFor(body);
    expect(spec.timezone).toBe(timezone);
  });

  test.each([
    ['the client’s zone when nobody else names one', 'Asia/Seoul', 'Asia/Seoul'],
    ['UTC when the client’s zone doesn’t exist', 'Mars/Base', 'UTC'],
  ])('%s', async (_what, clientTimezone, timezone) => {
    const api = await setUpSessionApi();
    await api.startSession({ agent_id: await api.publishedAgent(), client_timezone: clientTimezone });
    expect(onlySpec(api).timezone).toBe(timezone);
  });

  test('switches of the request go before those of the agent', async () => {
    const { spec } = await specFor({ world_context: false, tool_events: false, record_audio: false });
    expect(spec).toMatchObject({ worldContext: false, toolEvents: false, recordAudio: false });
  });

  test('holds the text of attached knowledge', async () => {
    const api = await setUpSessionApi();
    const agentId = await api.publishedAgent({}, { knowledge_base: { knowledge_source_ids: ['source1'] } });
    await api.startSession({ agent_id: agentId });
    expect(onlySpec(api).knowledgeText).toBe('text of source1');
  });

  test('a later draft doesn’t reach calls before it is published', async () => {
    const api = await setUpSessionApi();
    const agentId = await api.publishedAgent({}, { prompt: { system_prompt: 'published' } });
    await api.ask('PATCH', `/v1/agent/agents/${agentId}/config`, { prompt: { system_prompt: 'draft' } });
    await api.startSession({ agent_id: agentId });
    expect(onlySpec(api).systemPrompt).toBe('published');
  });
});

describe('a preview', () => {
  const preview = async (body?: unknown) => {
    const api = await setUpSessionApi({ creditMicros: 0 });
    const created = await api.ask('POST', '/v1/agent/agents', {
      name: 'Draft',
      config: { prompt: { system_prompt: 'draft of {{name}}' } },
    });
    const agentId = String(created.body['agent_id']);
    const reply = await api.ask('POST', `/v1/agent/agents/${agentId}/preview`, body);
    return { api, agentId, reply };
  };

  test('runs the draft, for at most 600 s, without charge and without a place in the list', async () => {
    const { api, reply } = await preview();
    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({ transport: 'rtc', max_duration_seconds: 600 });
    expect(onlySpec(api)).toMatchObject({ source: 'dashboard', systemPrompt: 'draft of {{name}}' });
    expect(await api.balance()).toBe(0);
    expect((await api.ask('GET', SESSIONS)).body['sessions']).toEqual([]);
    expect(await api.read(String(reply.body['session_id']))).toMatchObject({ source: 'dashboard' });
  });

  test('takes what a session takes, except the agent', async () => {
    const { api } = await preview({ dynamic_variables: { name: 'Ana' }, language: 'it' });
    expect(onlySpec(api)).toMatchObject({ systemPrompt: 'draft of Ana', language: 'it' });
    expect((await preview({ agent_id: 'x' })).reply.status).toBe(422);
  });

  test('of another team’s agent is 404', async () => {
    const { api, agentId } = await preview();
    const reply = await api.ask('POST', `/v1/agent/agents/${agentId}/preview`, undefined, { key: 'other' });
    expect(reply.status).toBe(404);
  });

  test('costs nothing when it ends either', async () => {
    const { api, reply } = await preview();
    const sessionId = String(reply.body['session_id']);
    await api.joined(sessionId);
    await api.clock.advance(90_000);
    await api.ask('POST', `${SESSIONS}/${sessionId}/end`);
    expect(await api.read(sessionId)).toMatchObject({ status: 'completed', duration_seconds: 90 });
    expect(await api.balance()).toBe(0);
  });
});
