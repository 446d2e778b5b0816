import { describe, expect, test } from 'vitest';
import type { Json } from './agents-setup.ts';
import { SESSIONS } from './sessions-setup.ts';
import { hooks, setUpAfterCall } from './webhooks-setup.ts';

const A = 'https://a.example/hook';
const WISHES = {
  analysis: {
    data_fields: [{ name: 'nights', type: 'number', description: 'how many nights' }],
    criteria: [{ name: 'booked', description: 'a room was booked' }],
  },
};

describe('the analysis of a call', () => {
  test('is queued by its end and completed soon after, extractive and honest without a model', async () => {
    const { call, pass, read } = await setUpAfterCall();
    const { sessionId } = await call({ ...hooks(A), ...WISHES }, {}, [
      'Hello',
      'I need a room for two nights',
    ]);
    expect((await read(sessionId))['analysis']).toMatchObject({ status: 'queued', finished_at: null });

    await pass(4_000);

    const rationale = 'No language model is set up to read the conversation.';
    expect((await read(sessionId))['analysis']).toEqual({
      status: 'completed',
      summary: '“Hello” … “I need a room for two nights”',
      data: [{ name: 'nights', type: 'number', value: null, rationale }],
      criteria_results: [{ name: 'booked', result: 'unknown', rationale }],
      error: null,
      finished_at: expect.any(String),
    });
  });

  test.each<[string, Json, string[]]>([
    ['the caller never spoke', {}, []],
    ['everything is switched off', { analysis: { summary: { enabled: false } } }, ['Hello']],
  ])('is skipped when %s', async (_why, config, said) => {
    const { call, pass, read, sent } = await setUpAfterCall();
    const { sessionId } = await call({ ...hooks(A), ...config }, {}, said);
    await pass(4_000);

    const skipped = { status: 'skipped', summary: null, data: [], criteria_results: [], error: null };
    expect((await read(sessionId))['analysis']).toMatchObject(skipped);
    expect(sent.at(-1)?.body).toMatchObject({ event: 'call.analyzed', analysis: skipped });
  });

  test('run again gives a new call.analyzed with a newer finished_at', async () => {
    const { call, say, pass, read, sent, askAfter } = await setUpAfterCall();
    const { sessionId } = await call(hooks(A), {}, []);
    await pass(4_000);
    // What the caller said arrived late.
    await say(sessionId, 60, 'user', 'Sorry, I was muted');

    const reply = await askAfter('POST', `${SESSIONS}/${sessionId}/analysis`);
    expect(reply).toMatchObject({ status: 202, body: { session_id: sessionId, status: 'queued' } });
    await pass(4_000);

    expect((await read(sessionId))['analysis']).toMatchObject({ status: 'completed' });
    const analyses = sent.slice(1).map(({ body }) => body['analysis'] as Json);
    expect(analyses.map(({ status }) => status)).toEqual(['skipped', 'completed']);
    expect(String(analyses[1]?.['finished_at']) > String(analyses[0]?.['finished_at'])).toBe(true);
  });

  test('run again ten times at once is refused while a run is under way, and each run settles once', async () => {
    const { call, pass, sent, askAfter } = await setUpAfterCall();
    const { sessionId } = await call(hooks(A), {}, []);
    await pass(4_000);
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => askAfter('POST', `${SESSIONS}/${sessionId}/analysis`)),
    );
    await pass(4_000);
    const accepted = replies.filter(({ status }) => status === 202).length;
    expect(accepted).toBeGreaterThanOrEqual(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(10 - accepted);
    const analyses = Array.from({ length: 1 + accepted }, () => 'call.analyzed');
    expect(sent.map(({ body }) => body['event'])).toEqual(['call.ended', ...analyses]);
  });

  test('is run again only when it was skipped or failed, and by its own team', async () => {
    const { call, pass, askAfter, startSession } = await setUpAfterCall();
    const { sessionId } = await call(hooks(A));
    const pending = await startSession();
    await pass(4_000);
    const rerun = (id: string, key = 'good') =>
      askAfter('POST', `${SESSIONS}/${id}/analysis`, undefined, { key });

    expect(await rerun(sessionId)).toMatchObject({
      status: 409,
      body: { message: 'Only a skipped or failed analysis can be run again' },
    });
    expect((await rerun(pending)).status).toBe(409);
    expect((await rerun(sessionId, 'other')).status).toBe(404);
    expect((await rerun('ses_none')).status).toBe(404);
  });

  test('a run whose process died is taken up again, and settles once', async () => {
    const { call, pass, read, sent, store, clock } = await setUpAfterCall();
    const { sessionId } = await call(hooks(A));
    // Another process has begun it and is never heard of again.
    await store
      .collection('sessions')
      .updateOne(
        { _id: sessionId },
        { $set: { 'analysis.status': 'running', analysisDueAtMs: clock.nowMs() + 15_000 } },
      );
    await pass(10_000);
    expect((await read(sessionId))['analysis']).toMatchObject({ status: 'running' });

    await pass(10_000);

    expect((await read(sessionId))['analysis']).toMatchObject({ status: 'completed' });
    expect(sent.filter(({ body }) => body['event'] === 'call.analyzed')).toHaveLength(1);
  });
});
