import { describe, expect, test } from 'vitest';
import type { Json } from './agents-setup.ts';
import { SESSIONS, setUpSessionApi } from './sessions-setup.ts';

const ids = (body: Json) => (body['sessions'] as Json[]).map((session) => session['session_id']);

/** Six sessions a second apart, oldest first: of agents a, b, a, b, a, b; the second is joined, the third has ended. */
async function setUp() {
  const api = await setUpSessionApi();
  const a = await api.publishedAgent();
  const b = await api.publishedAgent();
  const all: string[] = [];
  const startMs = api.clock.nowMs();
  for (const agent_id of [a, b, a, b, a, b]) {
    all.push(await api.startSession({ agent_id }));
    await api.clock.advance(1000);
  }
  const [s1 = '', s2 = '', s3 = '', s4 = '', s5 = '', s6 = ''] = all;
  await api.joined(s2);
  await api.ask('POST', `${SESSIONS}/${s3}/end`);
  const list = (query = '') => api.ask('GET', `${SESSIONS}${query}`);
  const at = (offsetMs: number) => encodeURIComponent(new Date(startMs + offsetMs).toISOString());
  return { ...api, a, b, s1, s2, s3, s4, s5, s6, all, list, at };
}

describe('the list of sessions', () => {
  test('holds every status, newest first', async () => {
    const { list, all } = await setUp();
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(ids(body)).toEqual(all.toReversed());
    expect(body).toMatchObject({ has_more: false, next_cursor: null, total: null });
  });

  test('is filtered by agent', async () => {
    const { list, a, s1, s3, s5 } = await setUp();
    expect(ids((await list(`?agent_id=${a}`)).body)).toEqual([s5, s3, s1]);
  });

  test('is filtered by one or several statuses', async () => {
    const { list, s2, s3 } = await setUp();
    expect(ids((await list('?status=active')).body)).toEqual([s2]);
    expect(ids((await list('?status=active,failed')).body)).toEqual([s3, s2]);
    expect(ids((await list('?status=completed,unknown')).body)).toEqual([]);
  });

  test('is filtered by direction', async () => {
    const { list, all } = await setUp();
    expect(ids((await list('?direction=inbound')).body)).toEqual(all.toReversed());
    expect(ids((await list('?direction=outbound')).body)).toEqual([]);
  });

  test('created_after is inclusive, created_before exclusive', async () => {
    const { list, at, s2, s3 } = await setUp();
    expect(ids((await list(`?created_after=${at(1000)}&created_before=${at(3000)}`)).body)).toEqual([s3, s2]);
  });

  test('a caller’s number is matched exactly, its plus tolerated in every spelling', async () => {
    const { list, sessions, s1 } = await setUp();
    const phone = await sessions.findAnywhere(s1);
    if (!phone) throw new Error('no session');
    await sessions.insert({ ...phone, _id: 'ses_phone', source: 'phone', callerNumber: '+15550001111' });
    for (const spelling of ['%2B15550001111', '+15550001111', '15550001111']) {
      expect(ids((await list(`?caller_number=${spelling}`)).body), spelling).toEqual(['ses_phone']);
    }
    expect(ids((await list('?caller_number=1555000111')).body)).toEqual([]);
  });

  test('is read whole by following the cursor, filters kept', async () => {
    const { list, a, s1, s3, s5 } = await setUp();
    const first = (await list(`?agent_id=${a}&page_size=2&include_total=true`)).body;
    expect([ids(first), first['has_more'], first['total']]).toEqual([[s5, s3], true, 3]);
    const second = (await list(`?agent_id=${a}&page_size=2&cursor=${first['next_cursor']}`)).body;
    expect([ids(second), second['has_more'], second['next_cursor']]).toEqual([[s1], false, null]);
  });

  test('a session started between two pages moves none of the others', async () => {
    const { list, startSession, s4, s3 } = await setUp();
    const first = (await list('?page_size=2')).body;
    await startSession();
    expect(ids((await list(`?page_size=2&cursor=${first['next_cursor']}`)).body)).toEqual([s4, s3]);
  });

  test('is read by pages, counted, and goes on by cursor', async () => {
    const { list, s4, s3, s2, s1 } = await setUp();
    const page = (await list('?page=2&page_size=2')).body;
    expect([ids(page), page['total']]).toEqual([[s4, s3], 6]);
    expect(ids((await list(`?page_size=2&cursor=${page['next_cursor']}`)).body)).toEqual([s2, s1]);
  });

  test.each([
    ['page with cursor', '?page=1&cursor=x', 400],
    ['a cursor nobody made', '?cursor=eyJ4IjoxfQ', 400],
    ['an offset past 100,000 rows', '?page=1002&page_size=100', 400],
    ['page 0', '?page=0', 422],
    ['page_size 101', '?page_size=101', 422],
    ['an unknown status', '?status=active,gone', 422],
    ['an unknown direction', '?direction=sideways', 422],
    ['a time that isn’t one', '?created_after=yesterday', 422],
  ])('refuses %s', async (_what, query, status) => {
    const { ask } = await setUpSessionApi();
    expect((await ask('GET', `${SESSIONS}${query}`)).status).toBe(status);
  });

  test('another team sees nothing, and its cursor opens nothing here', async () => {
    const { ask, list } = await setUp();
    expect(ids((await ask('GET', SESSIONS, undefined, { key: 'other' })).body)).toEqual([]);
    const { body } = await list('?page_size=2');
    const path = `${SESSIONS}?cursor=${body['next_cursor']}`;
    expect((await ask('GET', path, undefined, { key: 'other' })).status).toBe(400);
  });
});

test('another team’s session answers like a missing one, on every endpoint', async () => {
  const { ask, s1 } = await setUp();
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/recording'],
    ['POST', '/end'],
  ] as const) {
    const foreign = await ask(method, `${SESSIONS}/${s1}${path}`, undefined, { key: 'other' });
    const missing = await ask(method, `${SESSIONS}/ses_0${path}`);
    expect([foreign.status, foreign.body]).toEqual([
      404,
      { status: 404, message: 'Session not found', reason: null },
    ]);
    expect(missing.body).toEqual(foreign.body);
  }
});

test('a session that was never recorded says so', async () => {
  const { ask, s1 } = await setUp();
  const { status, body } = await ask('GET', `${SESSIONS}/${s1}/recording`);
  expect([status, body['message']]).toEqual([404, 'Recording not found']);
});
