import { describe, expect, test } from 'vitest';
import type { Json } from './agents-setup.ts';
import { MINUTE_MICROS, ORIGIN, SESSIONS, setUpSessionApi } from './sessions-setup.ts';

const OPEN = {
  public_enabled: true,
  allowed_origins: [ORIGIN],
  overrides_allowed: ['language', 'voice_id', 'system_prompt'],
};

async function setUp(options: Parameters<typeof setUpSessionApi>[0] = {}, agent: Json = OPEN) {
  const api = await setUpSessionApi(options);
  const agentId = await api.publishedAgent(agent);
  /** A page of `origin` starts a session without a key. */
  const start = (origin: string | null = ORIGIN, body: Json = {}) =>
    api.ask(
      'POST',
      SESSIONS,
      { agent_id: agentId, ...body },
      { key: null, headers: origin === null ? {} : { origin } },
    );
  const widget = (origin: string | null) =>
    api.ask('GET', `/v1/agent/agents/${agentId}/widget`, undefined, {
      key: null,
      headers: origin === null ? {} : { origin },
    });
  return { ...api, agentId, start, widget };
}

describe('a session without a key', () => {
  test('starts at an allowed origin, must be joined within a minute, and reads as public', async () => {
    const { start, read, clock, dispatch } = await setUp();
    const { status, body } = await start();
    expect(status).toBe(201);
    expect(body['expires_at']).toBe(new Date(clock.nowMs() + 60_000).toISOString());
    expect(await read(String(body['session_id']))).toMatchObject({ source: 'public', status: 'pending' });
    expect(dispatch.specs[0]?.source).toBe('public');
  });

  test('is paid by the agent’s team', async () => {
    const { start, balance } = await setUp({ creditMicros: 1_000_000 });
    await start();
    expect(await balance()).toBe(1_000_000 - MINUTE_MICROS);
  });

  const REFUSED: [string, Json, string | null, string][] = [
    ['an agent that isn’t public', { public_enabled: false }, ORIGIN, 'Agent is not public'],
    ['no Origin', {}, null, 'Origin header is required for public agents'],
    ['another origin', {}, 'https://b.example', 'Origin not allowed'],
    ['an agent that allows no origin', { allowed_origins: [] }, ORIGIN, 'Origin not allowed'],
  ];

  test.each(REFUSED)(
    'with %s is 403 in the exact words, for the widget too',
    async (_what, agent, origin, message) => {
      const { start, widget } = await setUp({}, { ...OPEN, ...agent });
      for (const reply of [await start(origin), await widget(origin)]) {
        expect([reply.status, reply.body]).toEqual([403, { status: 403, message, reason: null }]);
      }
    },
  );

  test('never yields 402: an owner without credit makes the agent unavailable', async () => {
    const { start } = await setUp({ creditMicros: 0 });
    const { status, body } = await start();
    expect([status, body['message']]).toEqual([403, 'Agent is unavailable']);
  });

  test('of an agent that doesn’t exist is 404', async () => {
    const { start } = await setUp();
    expect((await start(ORIGIN, { agent_id: 'f'.repeat(32) })).status).toBe(404);
  });

  test('of a public agent that was never published is 409', async () => {
    const { ask } = await setUp();
    const created = await ask('POST', '/v1/agent/agents', { name: 'Draft' });
    const id = String(created.body['agent_id']);
    await ask('PATCH', `/v1/agent/agents/${id}`, OPEN);
    const reply = await ask('POST', SESSIONS, { agent_id: id }, { key: null, headers: { origin: ORIGIN } });
    expect(reply.status).toBe(409);
  });

  test.each([
    ['a name', { name: 'x' }, 400],
    ['a system prompt, though the agent allows it', { overrides: { system_prompt: 'x' } }, 400],
    ['a first message', { overrides: { first_message: 'x' } }, 400],
    ['an allowed voice', { overrides: { voice_id: 'v' } }, 201],
    ['an allowed language', { overrides: { language: 'fr' } }, 201],
    ['the language of the request', { language: 'fr' }, 201],
  ])('with %s is %i', async (_what, body, status) => {
    const { start } = await setUp();
    expect((await start(ORIGIN, body)).status).toBe(status);
  });

  test('a bad key doesn’t make a caller anonymous', async () => {
    const { ask, agentId } = await setUp();
    const reply = await ask(
      'POST',
      SESSIONS,
      { agent_id: agentId },
      { key: 'bad', headers: { origin: ORIGIN } },
    );
    expect([reply.status, reply.body['message']]).toEqual([401, 'Invalid token']);
  });

  test('a malformed Authorization header is a bare 401', async () => {
    const { ask, agentId } = await setUp();
    const headers = { origin: ORIGIN, authorization: 'Basic abc' };
    const reply = await ask('POST', SESSIONS, { agent_id: agentId }, { key: null, headers });
    expect([reply.status, reply.body, reply.headers.get('www-authenticate')]).toEqual([401, null, 'Bearer']);
  });

  test('another team’s key can’t reach a public agent', async () => {
    const { ask, agentId } = await setUp();
    expect((await ask('POST', SESSIONS, { agent_id: agentId }, { key: 'other' })).status).toBe(404);
  });
});

describe('the rate windows', () => {
  test('past 10 a minute from one address it is 429 until the next minute', async () => {
    const { start, clock } = await setUp();
    // Into a fresh window.
    await clock.advance(60_000 - (clock.nowMs() % 60_000));
    const statuses: number[] = [];
    for (let i = 0; i < 11; i++) statuses.push((await start()).status);
    expect(statuses).toEqual([...Array(10).fill(201), 429]);

    await clock.advance(20_000);
    expect((await start()).headers.get('retry-after')).toBe('40');
    await clock.advance(40_000);
    expect((await start()).status).toBe(201);
  });

  test('an agent has a window of its own', async () => {
    const { start } = await setUp({ limits: { publicPerMinutePerIp: 100, publicPerMinutePerAgent: 3 } });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await start()).status);
    expect(statuses).toEqual([201, 201, 201, 429]);
  });

  test('callers with a key meet neither', async () => {
    const { ask, agentId } = await setUp({ limits: { publicPerMinutePerIp: 1, publicPerMinutePerAgent: 1 } });
    for (let i = 0; i < 3; i++) expect((await ask('POST', SESSIONS, { agent_id: agentId })).status).toBe(201);
  });

  test('a refused origin uses nothing up', async () => {
    const { start } = await setUp({ limits: { publicPerMinutePerIp: 1 } });
    for (let i = 0; i < 3; i++) await start('https://b.example');
    expect((await start()).status).toBe(201);
  });
});

describe('browsers', () => {
  test('may ask from any page, whatever the answer', async () => {
    const { ask, widget, agentId } = await setUp();
    const preflight = await ask('OPTIONS', SESSIONS, undefined, {
      key: null,
      headers: {
        origin: ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-client-version',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    const shown = await widget(ORIGIN);
    expect([shown.status, shown.body]).toEqual([200, { agent_name: 'Desk' }]);
    expect(shown.headers.get('access-control-allow-origin')).toBe('*');
    const refused = await ask('POST', SESSIONS, { agent_id: agentId }, { key: null, headers: {} });
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
  });
});
