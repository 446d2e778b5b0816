import { describe, expect, test } from 'vitest';
import type { Json } from './agents-setup.ts';
import { MINUTE_MICROS, SESSIONS, setUpSessionApi } from './sessions-setup.ts';

const CREDIT = 1_000_000;

async function setUp() {
  const api = await setUpSessionApi({ creditMicros: CREDIT });
  const sessionId = await api.startSession();
  const end = (key = 'good') => api.ask('POST', `${SESSIONS}/${sessionId}/end`, undefined, { key });
  const read = () => api.read(sessionId);
  const join = () => api.joined(sessionId);
  const { report } = api;
  const ended = (endReason: string, sequence = 9) => {
    const endedAtMs = api.clock.nowMs();
    const startedAtMs = endedAtMs - 90_000;
    return report(sessionId, sequence, {
      $case: 'ended',
      value: { status: 'completed', endReason, startedAtMs, endedAtMs },
    });
  };
  const item = (sequence: number, fields: Json) =>
    report(sessionId, sequence, {
      $case: 'timelineItem',
      value: { itemJson: JSON.stringify({ turn_id: 1, created_at: null, ...fields }) },
    });
  return { ...api, sessionId, end, read, join, ended, item };
}

const saying = (content: string, created_at: string) => ({
  type: 'message',
  role: 'user',
  content,
  created_at,
});

describe('a call', () => {
  test('is active from its join and completed by its end, settled per second', async () => {
    const { join, read, ended, clock, balance } = await setUp();
    await join();
    const started = new Date(clock.nowMs()).toISOString();
    expect(await read()).toMatchObject({ status: 'active', started_at: started, ended_at: null });

    await clock.advance(90_000);
    await ended('agent_hangup');

    expect(await read()).toMatchObject({
      status: 'completed',
      end_reason: 'agent_hangup',
      started_at: started,
      ended_at: new Date(clock.nowMs()).toISOString(),
      duration_seconds: 90,
    });
    expect(await balance()).toBe(CREDIT - 1.5 * MINUTE_MICROS);
  });

  test('every event told twice changes nothing', async () => {
    const { join, read, ended, item, clock, balance } = await setUp();
    await join();
    await item(2, saying('hello', '2026-01-01T00:00:01.000Z'));
    await clock.advance(90_000);
    await ended('agent_hangup');
    const [record, money] = [await read(), await balance()];

    await clock.advance(5000);
    await join();
    await item(2, saying('hello again', '2026-01-01T00:00:09.000Z'));
    await ended('user_hangup');

    expect(await read()).toEqual(record);
    expect(await balance()).toBe(money);
  });

  test('the same end told 10 times at once is settled once', async () => {
    const { join, ended, clock, balance } = await setUp();
    await join();
    await clock.advance(90_000);
    await Promise.all(Array.from({ length: 10 }, () => ended('agent_hangup')));
    expect(await balance()).toBe(CREDIT - 1.5 * MINUTE_MICROS);
  });

  test('of two ends at once the first stands', async () => {
    const { join, ended, read, balance, clock } = await setUp();
    await join();
    await clock.advance(90_000);
    await Promise.all([ended('agent_hangup', 9), ended('llm_endpoint_failure', 10)]);
    expect(await read()).toMatchObject({ status: 'completed', end_reason: 'agent_hangup' });
    expect(await balance()).toBe(CREDIT - 1.5 * MINUTE_MICROS);
  });

  test('a reason nobody knows is an internal error', async () => {
    const { join, ended, read } = await setUp();
    await join();
    await ended('meteor');
    expect(await read()).toMatchObject({ status: 'failed', end_reason: 'internal_error' });
  });

  test('events of a session without a record are taken and forgotten', async () => {
    const { report } = await setUp();
    await report('ses_gone', 1, { $case: 'joined', value: { protocol: 'whip' } });
    await report('ses_gone', 2, { $case: 'timelineItem', value: { itemJson: '{}' } });
  });
});

describe('the timeline', () => {
  test('is read while the call is on, in order of time, calls before their results', async () => {
    const { join, read, item } = await setUp();
    await join();
    const call = { call_id: 'c1', tool_name: 'find', tool_source: 'webhook' };
    const T = '2026-01-01T00:00:02.000Z';
    await item(2, {
      ...call,
      type: 'tool_result',
      status: 'completed',
      output: '{}',
      output_truncated: false,
      error: null,
      latency_ms: 3,
      created_at: T,
    });
    await item(3, { ...call, type: 'tool_call', input: '{}', created_at: T });
    await item(4, saying('hello', '2026-01-01T00:00:01.000Z'));

    const items = (await read())['items'] as Json[];

    expect(items.map(({ type }) => type)).toEqual(['message', 'tool_call', 'tool_result']);
    expect(items[0]).toEqual({
      type: 'message',
      role: 'user',
      content: 'hello',
      turn_id: 1,
      created_at: '2026-01-01T00:00:01.000Z',
    });
  });

  test('items of one number are stored once, also when they come at the same time', async () => {
    const { join, read, item } = await setUp();
    await join();
    await Promise.all([1, 2, 3].map(() => item(2, saying('once', '2026-01-01T00:00:01.000Z'))));
    expect((await read())['items']).toHaveLength(1);
  });

  test('goes on after the end: what came late is stored', async () => {
    const { join, read, ended, item } = await setUp();
    await join();
    await ended('user_hangup');
    await item(10, saying('late', '2026-01-01T00:00:01.000Z'));
    expect((await read())['items']).toHaveLength(1);
  });

  test('an item that isn’t one is dropped and doesn’t block the rest', async () => {
    const { join, read, item, report, sessionId } = await setUp();
    await join();
    await item(2, { type: 'poem' });
    await report(sessionId, 3, { $case: 'timelineItem', value: { itemJson: 'not json' } });
    await item(4, saying('fine', '2026-01-01T00:00:01.000Z'));
    expect((await read())['items']).toHaveLength(1);
  });

  test('a tool’s output is cut at 256 KB of whole characters, and flagged', async () => {
    const { join, read, item } = await setUp();
    await join();
    await item(2, {
      type: 'tool_result',
      call_id: 'c1',
      tool_name: 't',
      tool_source: null,
      status: 'completed',
      output: `x${'😀'.repeat(70_000)}`,
      output_truncated: false,
      error: null,
      latency_ms: null,
    });
    const [result] = (await read())['items'] as { output: string; output_truncated: boolean }[];
    expect(result?.output_truncated).toBe(true);
    expect(Buffer.byteLength(result?.output ?? '')).toBe(1 + 4 * 65_535);
    expect(result?.output.endsWith('😀')).toBe(true);
  });
});

describe('the engine’s log', () => {
  test('is stored once per number, with the turns’ times', async () => {
    const { join, report, sessionId, items } = await setUp();
    await join();
    for (let i = 0; i < 2; i++) {
      await report(sessionId, 2, { $case: 'decisionLog', value: { lines: Buffer.from('{"a":1}\n') } });
      await report(sessionId, 3, { $case: 'turnMetrics', value: { turnId: 1, metricsJson: '{"asr_ms":5}' } });
    }
    const log = await items.listLog(sessionId);
    expect(log.map(({ kind, text }) => [kind, text])).toEqual([
      ['decision_log', '{"a":1}\n'],
      ['turn_metrics', '{"asr_ms":5}'],
    ]);
  });

  test('is bounded: past 8 MB a session’s log is dropped', async () => {
    const { join, report, sessionId, items } = await setUp();
    await join();
    const lines = Buffer.alloc(3 * 1024 * 1024, 'x');
    for (let seq = 2; seq < 6; seq++)
      await report(sessionId, seq, { $case: 'decisionLog', value: { lines } });
    expect(await items.listLog(sessionId)).toHaveLength(2);
  });
});

describe('ending a session', () => {
  test('that nobody joined cancels it, frees the slot and gives the charge back', async () => {
    const { end, read, dispatch, sessionId, balance, clock } = await setUp();
    const { status, body } = await end();
    expect([status, body]).toEqual([204, null]);
    expect(await read()).toMatchObject({
      status: 'failed',
      end_reason: 'cancelled',
      started_at: null,
      ended_at: new Date(clock.nowMs()).toISOString(),
      duration_seconds: null,
    });
    expect(dispatch.released).toEqual([sessionId]);
    expect(await balance()).toBe(CREDIT);
  });

  test('that is active hangs up on the worker and is settled', async () => {
    const { join, end, read, dispatch, sessionId, clock, balance } = await setUp();
    await join();
    await clock.advance(30_000);
    expect((await end()).status).toBe(204);
    expect(dispatch.ended).toEqual([{ sessionId, endReason: 'user_hangup' }]);
    expect(await read()).toMatchObject({
      status: 'completed',
      end_reason: 'user_hangup',
      duration_seconds: 30,
    });
    expect(await balance()).toBe(CREDIT - MINUTE_MICROS / 2);
  });

  test('that has ended is 204 again and changes nothing', async () => {
    const { join, end, ended, read, dispatch } = await setUp();
    await join();
    await ended('agent_hangup');
    const record = await read();
    expect((await end()).status).toBe(204);
    expect(await read()).toEqual(record);
    expect(dispatch.ended).toEqual([]);
  });

  test('whose worker can’t be reached is 502, and trying again works', async () => {
    const { join, end, read, dispatch } = await setUp();
    await join();
    dispatch.isReachable = false;
    const { status, body } = await end();
    expect([status, body['message']]).toEqual([502, 'Agent gateway is unreachable']);
    expect(await read()).toMatchObject({ status: 'active' });
    dispatch.isReachable = true;
    expect((await end()).status).toBe(204);
  });

  test('of unknown fate is 502 while no worker names it', async () => {
    const { join, end, read, dispatch, sweeper, clock } = await setUp();
    await join();
    await clock.advance(10_000);
    dispatch.held.clear();
    await sweeper.sweep();
    expect((await end()).status).toBe(502);
    expect(await read()).toMatchObject({ status: 'unknown' });
  });
});

describe('a session nobody joins', () => {
  test('fails after its deadline, and the charge is given back', async () => {
    const { sweeper, clock, read, balance, dispatch, sessionId } = await setUp();
    await clock.advance(304_000);
    await sweeper.sweep();
    expect(await read()).toMatchObject({ status: 'pending' });

    await clock.advance(2000);
    await sweeper.sweep();

    expect(await read()).toMatchObject({
      status: 'failed',
      end_reason: 'room_join_timeout',
      duration_seconds: null,
    });
    expect(await balance()).toBe(CREDIT);
    expect(dispatch.released).toEqual([sessionId]);
  });

  test('is not failed again, nor paid back again, by another sweep', async () => {
    const { sweeper, clock, read, balance } = await setUp();
    await clock.advance(310_000);
    await Promise.all([sweeper.sweep(), sweeper.sweep()]);
    const record = await read();
    await clock.advance(10_000);
    await sweeper.sweep();
    expect(await read()).toEqual(record);
    expect(await balance()).toBe(CREDIT);
  });

  test('a session joined in time is left alone', async () => {
    const { sweeper, clock, read, join } = await setUp();
    await join();
    await clock.advance(400_000);
    await sweeper.sweep();
    expect(await read()).toMatchObject({ status: 'active' });
  });
});

test('a session that its worker’s next heartbeat will name is not missed yet', async () => {
  const { join, dispatch, sweeper, clock, read } = await setUp();
  dispatch.held.clear();
  await join();
  await clock.advance(4_000);
  await sweeper.sweep();
  expect(await read()).toMatchObject({ status: 'active' });
  await clock.advance(2_000);
  await sweeper.sweep();
  expect(await read()).toMatchObject({ status: 'unknown' });
});

describe('a session whose worker goes away', () => {
  async function setUpLost() {
    const api = await setUp();
    await api.join();
    await api.clock.advance(60_000);
    api.dispatch.held.clear();
    await api.sweeper.sweep();
    return api;
  }

  test('reads unknown, and active again when the worker is back', async () => {
    const { read, dispatch, sessionId, sweeper } = await setUpLost();
    expect(await read()).toMatchObject({ status: 'unknown', ended_at: null });
    dispatch.held.add(sessionId);
    await sweeper.sweep();
    expect(await read()).toMatchObject({ status: 'active' });
  });

  test('is active again with the worker’s link, without waiting for a sweep', async () => {
    const { read, events, sessionId } = await setUpLost();
    await events.workerLinked([sessionId, 'ses_other']);
    expect(await read()).toMatchObject({ status: 'active' });
  });

  test('is active again with any event, and keeps the item', async () => {
    const { read, item } = await setUpLost();
    await item(2, saying('still here', '2026-01-01T00:00:01.000Z'));
    const record = await read();
    expect(record).toMatchObject({ status: 'active' });
    expect(record['items']).toHaveLength(1);
  });

  test('ends as the worker says when its end comes late', async () => {
    const { read, ended } = await setUpLost();
    await ended('heartbeat_timeout');
    expect(await read()).toMatchObject({ status: 'completed', end_reason: 'heartbeat_timeout' });
  });

  test('is an internal error within 30 s, and costs what was spoken', async () => {
    const { read, sweeper, clock, balance } = await setUpLost();
    await clock.advance(21_000);
    await sweeper.sweep();
    expect(await read()).toMatchObject({ status: 'unknown' });
    await clock.advance(2_000);
    await sweeper.sweep();
    expect(await read()).toMatchObject({
      status: 'failed',
      end_reason: 'internal_error',
      duration_seconds: 60,
    });
    expect(await balance()).toBe(CREDIT - MINUTE_MICROS);
  });

  test('given up, is hung up when its worker comes back with it', async () => {
    const { events, sweeper, clock, dispatch, sessionId, read } = await setUpLost();
    await clock.advance(30_000);
    await sweeper.sweep();
    await events.workerLinked([sessionId]);
    expect(dispatch.ended).toEqual([{ sessionId, endReason: 'internal_error' }]);
    expect(await read()).toMatchObject({ status: 'failed' });
  });
});

test('a settlement that failed is made by the next sweep', async () => {
  const { join, ended, clock, balance, sweeper, sessions, sessionId, charging } = await setUp();
  await join();
  await clock.advance(90_000);
  const { settle } = charging;
  charging.settle = async () => {
    throw new Error('wallet is away');
  };
  await ended('agent_hangup');
  expect(await balance()).toBe(CREDIT - MINUTE_MICROS);
  expect((await sessions.findAnywhere(sessionId))?.moneyDue).toBe('settle');

  charging.settle = settle;
  await sweeper.sweep();

  expect(await balance()).toBe(CREDIT - 1.5 * MINUTE_MICROS);
  expect((await sessions.findAnywhere(sessionId))?.moneyDue).toBeNull();
});

test('the sweeper waits after the start, goes on sweeping, and stops when told', async () => {
  const { sweeper, clock, read } = await setUp();
  const stop = new AbortController();
  await clock.advance(310_000);
  const running = sweeper.run(stop.signal);
  await clock.advance(9_000);
  expect(await read()).toMatchObject({ status: 'pending' });
  await clock.advance(2_000);
  await expect.poll(read).toMatchObject({ status: 'failed' });
  stop.abort();
  await running;
});
