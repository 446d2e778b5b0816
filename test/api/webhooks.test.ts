import { describe, expect, test } from 'vitest';
import type { Json } from './agents-setup.ts';
import { SESSIONS } from './sessions-setup.ts';
import { hooks, setUpAfterCall } from './webhooks-setup.ts';

const A = 'https://a.example/hook';
const B = 'https://b.example/hook';

const eventsTo = (sent: readonly { url: string; body: Json }[], url: string) =>
  sent.filter((webhook) => webhook.url === url).map(({ body }) => body['event']);

describe('what is sent', () => {
  test('call.ended carries every field of the session, and no transcript', async () => {
    const { call, pass, sent, read } = await setUpAfterCall();
    const body = { end_user_id: 'user-7', metadata: { order: 12, nested: { a: [1, null] } }, name: 'one' };
    const { sessionId, agentId } = await call(hooks(A), body);
    await pass(5_000);

    const detail = await read(sessionId);
    const session = {
      id: sessionId,
      agent_id: agentId,
      branch_id: 'main',
      source: 'api_key',
      status: 'completed',
      conversation_started_at: detail['started_at'],
      conversation_ended_at: detail['ended_at'],
      duration_seconds: 90,
      end_user_id: 'user-7',
      metadata: body.metadata,
      agent_name: 'Desk',
      config_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      direction: 'inbound',
      dial_status: null,
      answered_by: null,
      batch_call_id: null,
    };
    expect(sent[0]?.body).toEqual({ event: 'call.ended', session, ended_reason: 'hangup' });
    expect(sent[1]?.body).toEqual({
      event: 'call.analyzed',
      session,
      analysis: {
        status: 'completed',
        summary: '“I need a room”',
        data: [],
        criteria_results: [],
        error: null,
        finished_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      },
    });
    expect(sent).toHaveLength(2);
  });

  test('a session that failed ends with the reason error; what was not given is empty', async () => {
    const { publishedAgent, startSession, joined, end, pass, sent, clock } = await setUpAfterCall();
    const sessionId = await startSession({ agent_id: await publishedAgent({}, hooks(A)) });
    await joined(sessionId);
    await clock.advance(90_000);
    await end(sessionId, 5, 'llm_endpoint_failure');
    await pass(5_000);

    expect(sent[0]?.body).toMatchObject({
      ended_reason: 'error',
      session: { status: 'failed', end_user_id: '', metadata: {} },
    });
  });

  test('up to five endpoints each get every event, in order', async () => {
    const urls = [1, 2, 3, 4, 5].map((n) => `https://n${n}.example/`);
    const { call, pass, sent } = await setUpAfterCall();
    await call(hooks(...urls));
    await pass(5_000);

    for (const url of urls) expect(eventsTo(sent, url)).toEqual(['call.ended', 'call.analyzed']);
  });

  test('an outbound call tells of its dial first, the times of the conversation being open then', async () => {
    const { publishedAgent, startSession, store, joined, end, pass, sent, clock } = await setUpAfterCall();
    const sessionId = await startSession({ agent_id: await publishedAgent({}, hooks(A)) });
    await store.collection('sessions').updateOne({ _id: sessionId }, { $set: { direction: 'outbound' } });
    await joined(sessionId);
    await clock.advance(90_000);
    await end(sessionId, 5);
    await pass(5_000);

    expect(eventsTo(sent, A)).toEqual(['phone_call.dial_finished', 'call.ended', 'call.analyzed']);
    expect(sent[0]?.body).toMatchObject({
      dial_status: 'answered',
      answered_by: 'unknown',
      session: {
        status: 'active',
        conversation_started_at: null,
        conversation_ended_at: null,
        duration_seconds: null,
        dial_status: 'answered',
        answered_by: 'unknown',
      },
    });
    expect(sent[1]?.body).toMatchObject({ session: { dial_status: 'answered', duration_seconds: 90 } });
  });

  test('an outbound call that nobody answered tells of its dial alone', async () => {
    const { publishedAgent, startSession, store, transitions, pass, sent, clock, read } =
      await setUpAfterCall();
    const sessionId = await startSession({ agent_id: await publishedAgent({}, hooks(A)) });
    await store.collection('sessions').updateOne({ _id: sessionId }, { $set: { direction: 'outbound' } });
    await transitions.move(sessionId, { type: 'dial_failed', dialStatus: 'busy', atMs: clock.nowMs() });
    await pass(5_000);

    expect(eventsTo(sent, A)).toEqual(['phone_call.dial_finished']);
    expect(sent[0]?.body).toMatchObject({ dial_status: 'busy', answered_by: null });
    expect((await read(sessionId))['analysis']).toBeNull();
  });
});

describe('what is not sent', () => {
  test('previews tell nobody and are not analysed', async () => {
    const { ask, publishedAgent, joined, end, pass, sent, clock, read } = await setUpAfterCall();
    const agentId = await publishedAgent({}, hooks(A));
    const preview = await ask('POST', `/v1/agent/agents/${agentId}/preview`);
    const sessionId = String(preview.body['session_id']);
    await joined(sessionId);
    await clock.advance(90_000);
    await end(sessionId, 5);
    await pass(5_000);

    expect(sent).toEqual([]);
    expect(await read(sessionId)).toMatchObject({ status: 'completed', analysis: null });
  });

  test('a session that nobody joined is not a call', async () => {
    const { ask, publishedAgent, startSession, pass, sent, sweeper, clock, read } = await setUpAfterCall();
    const agentId = await publishedAgent({}, hooks(A));
    const cancelled = await startSession({ agent_id: agentId });
    const missed = await startSession({ agent_id: agentId });
    await ask('POST', `${SESSIONS}/${cancelled}/end`);
    await clock.advance(306_000);
    await sweeper.sweep();
    await pass(5_000);

    expect((await read(missed))['end_reason']).toBe('room_join_timeout');
    expect(sent).toEqual([]);
  });

  test('an endpoint that was added after the session started hears nothing of it', async () => {
    const { ask, publishedAgent, startSession, joined, end, pass, sent, clock } = await setUpAfterCall();
    const agentId = await publishedAgent({}, hooks(A));
    const sessionId = await startSession({ agent_id: agentId });
    await joined(sessionId);
    await ask('PATCH', `/v1/agent/agents/${agentId}/config`, hooks(B));
    await ask('POST', `/v1/agent/agents/${agentId}/publish`);
    await clock.advance(90_000);
    await end(sessionId, 5);
    await pass(5_000);

    expect(new Set(sent.map(({ url }) => url))).toEqual(new Set([A]));
  });

  test('an agent that was deleted meanwhile still tells of its last call', async () => {
    const { ask, publishedAgent, startSession, joined, end, pass, sent, clock } = await setUpAfterCall();
    const agentId = await publishedAgent({}, hooks(A));
    const sessionId = await startSession({ agent_id: agentId });
    await joined(sessionId);
    await ask('DELETE', `/v1/agent/agents/${agentId}`);
    await clock.advance(90_000);
    await end(sessionId, 5);
    await pass(5_000);

    expect(
      sent.map(({ body }) => [body['event'], (body['analysis'] as Json | undefined)?.['status']]),
    ).toEqual([
      ['call.ended', undefined],
      ['call.analyzed', 'skipped'],
    ]);
  });
});

test('the end told ten times makes one call.ended', async () => {
  const { call, end, pass, sent } = await setUpAfterCall();
  const { sessionId } = await call(hooks(A));
  await Promise.all(Array.from({ length: 10 }, (_, i) => end(sessionId, 60 + i)));
  await pass(5_000);
  expect(eventsTo(sent, A)).toEqual(['call.ended', 'call.analyzed']);
});

describe('the history', () => {
  test('lists every delivery with its attempts, by event and endpoint', async () => {
    const { call, pass, deliveries } = await setUpAfterCall((url, nth) => (url === B && nth < 3 ? 500 : 204));
    const { sessionId } = await call(hooks(A, B));
    await pass(20_000);

    const rows = await deliveries(sessionId);
    expect(rows.map(({ event, url, status }) => [event, url, status])).toEqual([
      ['call.ended', A, 'delivered'],
      ['call.ended', B, 'dropped'],
      ['call.analyzed', A, 'delivered'],
      ['call.analyzed', B, 'delivered'],
    ]);
    expect(rows[1]).toMatchObject({ next_attempt_at: null, resends: 0 });
    expect(rows[1]?.['attempts']).toEqual(
      [0, 1, 2].map(() => ({
        sent_at: expect.any(String),
        latency_ms: expect.any(Number),
        status_code: 500,
        response_excerpt: 'seen',
        error: null,
      })),
    );
  });

  test('a dropped delivery is sent again when asked, the same body with a new budget', async () => {
    const { call, pass, deliveries, askAfter, sent } = await setUpAfterCall((_url, nth) =>
      nth < 4 ? 500 : 200,
    );
    const { sessionId } = await call(hooks(A));
    await pass(20_000);
    const [ended] = await deliveries(sessionId);
    const before = sent.length;

    const path = `${SESSIONS}/${sessionId}/deliveries/${ended?.['delivery_id']}/resend`;
    const reply = await askAfter('POST', path);
    await pass(10_000);

    expect(reply.status).toBe(202);
    expect(reply.body).toMatchObject({ status: 'pending', resends: 1, next_attempt_at: expect.any(String) });
    expect(sent.length).toBe(before + 1);
    expect(sent.at(-1)?.body).toEqual(sent[0]?.body);
    expect((await deliveries(sessionId))[0]).toMatchObject({ status: 'delivered', resends: 1 });
  });

  test('what is pending is not sent twice at once: 409', async () => {
    const { call, pass, deliveries, askAfter } = await setUpAfterCall(() => 500);
    const { sessionId } = await call(hooks(A));
    await pass(3_000);
    const [ended] = await deliveries(sessionId);
    expect(ended?.['status']).toBe('pending');
    const reply = await askAfter(
      'POST',
      `${SESSIONS}/${sessionId}/deliveries/${ended?.['delivery_id']}/resend`,
    );
    expect(reply).toMatchObject({ status: 409, body: { message: 'Delivery is still pending' } });
  });

  test('re-sending is bounded', async () => {
    const { call, pass, deliveries, askAfter } = await setUpAfterCall();
    const { sessionId } = await call(hooks(A));
    await pass(4_000);
    const [ended] = await deliveries(sessionId);
    const statuses: number[] = [];
    for (let i = 0; i < 22; i++) {
      const path = `${SESSIONS}/${sessionId}/deliveries/${ended?.['delivery_id']}/resend`;
      statuses.push((await askAfter('POST', path)).status);
      await pass(500);
    }
    expect(statuses).toEqual([...Array(20).fill(202), 409, 409]);
    const [again] = await deliveries(sessionId);
    expect(again?.['attempts']).toHaveLength(12);
  });

  test('another team’s session and a delivery that isn’t there are 404', async () => {
    const { call, pass, askAfter, deliveries } = await setUpAfterCall();
    const { sessionId } = await call(hooks(A));
    const other = await call(hooks(B));
    await pass(5_000);
    const [foreign] = await deliveries(other.sessionId);
    const [own] = await deliveries(sessionId);
    const resend = (id: unknown, key = 'good') =>
      askAfter('POST', `${SESSIONS}/${sessionId}/deliveries/${id}/resend`, undefined, { key });

    const list = await askAfter('GET', `${SESSIONS}/${sessionId}/deliveries`, undefined, { key: 'other' });
    expect(list).toMatchObject({ status: 404, body: { message: 'Session not found' } });
    expect(await resend(own?.['delivery_id'], 'other')).toMatchObject({ status: 404 });
    expect(await resend(foreign?.['delivery_id'])).toMatchObject({
      status: 404,
      body: { message: 'Delivery not found' },
    });
    for (const id of ['nothing', 'dlv__2_0', 'dlv_x_2_9']) expect((await resend(id)).status).toBe(404);
  });
});
