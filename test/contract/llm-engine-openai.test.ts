import { expect, onTestFinished, test } from 'vitest';
import type { OpenAiLlmSettings } from '../../media-worker/llm/engines/openai/openai-llm.ts';
import type { LlmEvent } from '../../media-worker/llm/llm-engine.ts';
import { eventually } from '../support/eventually.ts';
import { chunk, completion, eventStream, type StubAnswer } from '../support/openai-stub.ts';
import { collect, llmRequest, textOf } from './llm-engine.contract.ts';
import { openAiSubject } from './openai-llm-subject.ts';

const HELLO = completion({ content: 'Hello ' }, { content: 'there.' });
const question = llmRequest('hello');

async function setUp(answers: readonly StubAnswer[], settings: Partial<OpenAiLlmSettings> = {}) {
  const subject = await openAiSubject(answers, settings);
  onTestFinished(subject.dispose);
  return subject;
}

function callsOf(events: readonly LlmEvent[]) {
  return events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
}

test('the request carries key, model, messages and tools in the words of the API', async () => {
  const { engine, stub } = await setUp([HELLO]);
  const tool = { name: 'f', description: 'd', parameters: { type: 'object' } };

  await collect(engine, {
    ...question,
    tools: [tool],
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'u' },
      { role: 'assistant', content: '', toolCalls: [{ callId: 'c', name: 'f', argumentsJson: '{}' }] },
      { role: 'tool', callId: 'c', content: 'r' },
    ],
  });

  expect(stub.requests[0]).toMatchObject({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer secret' },
    body: {
      model: 'm-1',
      stream: true,
      tools: [{ type: 'function', function: tool }],
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: 'u' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'r' },
      ],
    },
  });
});

test("an agent's own endpoint gets session_id, and user_id when there is one", async () => {
  const { engine, stub } = await setUp([HELLO], { sendsSessionFields: true });

  await collect(engine, { ...question, endUserId: 'user-7' });
  await collect(engine, question);

  expect(stub.requests[0]?.body).toMatchObject({ session_id: 'ses_1', user_id: 'user-7' });
  expect(stub.requests[1]?.body['user_id']).toBeUndefined();
});

test('no other endpoint gets fields beyond the API, and no tools field when there are none', async () => {
  const { engine, stub } = await setUp([HELLO]);

  await collect(engine, { ...question, endUserId: 'user-7' });

  expect(Object.keys(stub.requests[0]?.body ?? {}).sort()).toEqual([
    'messages',
    'model',
    'stream',
    'stream_options',
  ]);
});

test.each(['/', '/chat/completions', '/chat/completions/'])('a base URL may end in %s', async (ending) => {
  const { engine, stub, dispose } = await openAiSubject([HELLO], {}, ending);
  onTestFinished(dispose);

  await collect(engine, question);

  expect(stub.requests[0]?.path).toBe('/v1/chat/completions');
});

test('aborting frees the upstream connection within 50 ms', async () => {
  const { engine, stub } = await setUp([eventStream(chunk({ content: 'One ' }), { waitMs: 60_000 })]);
  const controller = new AbortController();
  const replying = collect(engine, question, controller.signal);
  await eventually('the service answers', 2_000, () => (stub.running === 1 ? true : null));
  await new Promise((resolve) => setTimeout(resolve, 20));

  const abortedAtMs = performance.now();
  controller.abort();
  const events = await replying;
  await eventually('the connection is free', 2_000, () => (stub.connections === 0 ? true : null));

  expect(performance.now() - abortedAtMs).toBeLessThan(50);
  expect(textOf(events)).toBe('One ');
});

test('aborting before the service answers frees the connection as well', async () => {
  const { engine, stub } = await setUp([{ steps: 'never' }]);
  const controller = new AbortController();
  const replying = collect(engine, question, controller.signal);
  await eventually('the service is asked', 2_000, () => (stub.running === 1 ? true : null));

  const abortedAtMs = performance.now();
  controller.abort();

  expect(await replying).toEqual([]);
  await eventually('the connection is free', 2_000, () => (stub.connections === 0 ? true : null));
  expect(performance.now() - abortedAtMs).toBeLessThan(50);
});

test('warming up opens the connection that the first reply uses', async () => {
  const { engine, stub } = await setUp([HELLO]);

  await engine.prewarm();
  const afterPrewarm = stub.connections;
  await new Promise((resolve) => setTimeout(resolve, 20));
  await collect(engine, question);

  expect(afterPrewarm).toBe(1);
  expect(stub.connections).toBe(1);
});

test.each([429, 500, 503, 408])('a %i before the first token is tried once more', async (status) => {
  const { engine, stub } = await setUp([{ status, steps: ['busy'] }, HELLO]);

  expect(textOf(await collect(engine, question))).toBe('Hello there.');
  expect(stub.requests).toHaveLength(2);
});

test('a connection lost before the first token is tried once more, and not a third time', async () => {
  const { engine, stub } = await setUp([eventStream('cut')]);

  await expect(collect(engine, question)).rejects.toMatchObject({ kind: 'upstream_failed' });
  expect(stub.requests).toHaveLength(2);
});

test.each([400, 401, 403, 404])('a %i is not tried again', async (status) => {
  const { engine, stub } = await setUp([{ status, steps: ['no'] }]);

  await expect(collect(engine, question)).rejects.toMatchObject({
    kind: 'upstream_failed',
    message: `The model answered ${status}`,
  });
  expect(stub.requests).toHaveLength(1);
});

test('after the first token nothing is tried again: a reply that is cut off fails', async () => {
  const { engine, stub } = await setUp([eventStream(chunk({ content: 'Hel' }), 'cut')]);
  const texts: string[] = [];

  const replying = (async () => {
    for await (const event of engine.reply(question, new AbortController().signal))
      if (event.type === 'text') texts.push(event.text);
  })();

  await expect(replying).rejects.toMatchObject({ kind: 'upstream_failed' });
  expect(texts).toEqual(['Hel']);
  expect(stub.requests).toHaveLength(1);
});

test('half a tool call is never given out', async () => {
  const { engine } = await setUp([
    eventStream(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x' } }] })),
  ]);

  await expect(collect(engine, question)).rejects.toMatchObject({ kind: 'upstream_failed' });
});

test('a service that does not answer fails at the first-token deadline, retry included', async () => {
  const { engine } = await setUp([{ steps: 'never' }], { firstTokenDeadlineMs: 300 });

  const startedMs = performance.now();
  await expect(collect(engine, question)).rejects.toMatchObject({ kind: 'upstream_failed' });

  expect(performance.now() - startedMs).toBeGreaterThan(280);
  expect(performance.now() - startedMs).toBeLessThan(600);
});

test('headers and comments are no token: the deadline still counts', async () => {
  const { engine } = await setUp([eventStream(': hold on\n\n', { waitMs: 5_000 })], {
    firstTokenDeadlineMs: 300,
  });

  const startedMs = performance.now();
  await expect(collect(engine, question)).rejects.toMatchObject({ kind: 'upstream_failed' });

  expect(performance.now() - startedMs).toBeLessThan(600);
});

test('a slow reply may last longer than the first-token deadline', async () => {
  const { engine } = await setUp(
    [
      eventStream(
        chunk({ content: 'Slow' }),
        { waitMs: 500 },
        chunk({ content: 'ly.' }, 'stop'),
        'data: [DONE]\n\n',
      ),
    ],
    { firstTokenDeadlineMs: 300 },
  );

  expect(textOf(await collect(engine, question))).toBe('Slowly.');
});

test('a reply that stops in the middle fails at the gap deadline', async () => {
  const { engine } = await setUp([eventStream(chunk({ content: 'Hel' }), { waitMs: 5_000 })], {
    gapDeadlineMs: 200,
  });

  const startedMs = performance.now();
  await expect(collect(engine, question)).rejects.toMatchObject({ kind: 'upstream_failed' });

  expect(performance.now() - startedMs).toBeLessThan(600);
});

test('malformed JSON is an upstream failure', async () => {
  const { engine } = await setUp([eventStream('data: {"choices": [\n\n')]);

  await expect(collect(engine, question)).rejects.toMatchObject({ kind: 'upstream_failed' });
});

test('an error within the stream is an upstream failure', async () => {
  const { engine } = await setUp([eventStream('data: {"error":{"message":"overloaded"}}\n\n')]);

  await expect(collect(engine, question)).rejects.toMatchObject({ kind: 'upstream_failed' });
});

test('events that end anywhere, CRLF, comments and characters cut in two are put together', async () => {
  const bytes = Buffer.from(
    `: ping\r\n\r\n${chunk({ content: 'Grüße 🎉' }, 'stop').replaceAll('\n', '\r\n')}data:[DONE]\r\n\r\n`,
  );
  const steps = [...bytes].flatMap((byte) => [Uint8Array.of(byte)]);
  const { engine } = await setUp([eventStream(...steps)]);

  expect(textOf(await collect(engine, question))).toBe('Grüße 🎉');
});

test('usage is told once, at the end', async () => {
  const usage = 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\n';
  const { engine } = await setUp([
    eventStream(chunk({ content: 'Hi.' }), chunk({}, 'stop'), usage, 'data: [DONE]\n\n'),
  ]);

  expect((await collect(engine, question)).at(-1)).toEqual({
    type: 'usage',
    inputTokens: 7,
    outputTokens: 3,
  });
});

test('a service that refuses stream_options is asked without it, now and later', async () => {
  const refusal = { status: 400, steps: ['{"error":"unknown field stream_options"}'] };
  const { engine, stub } = await setUp([refusal, HELLO]);

  await collect(engine, question);
  await collect(engine, question);

  expect(stub.requests.map((request) => 'stream_options' in request.body)).toEqual([true, false, false]);
});

test('a service that does not stream is understood', async () => {
  const body = JSON.stringify({
    choices: [{ message: { content: 'Whole.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  });
  const { engine } = await setUp([{ headers: { 'content-type': 'application/json' }, steps: [body] }]);

  expect(textOf(await collect(engine, question))).toBe('Whole.');
});

test('a stream that ends after its finish reason, without [DONE], is whole', async () => {
  const { engine } = await setUp([eventStream(chunk({ content: 'Hi.' }, 'stop'))]);

  expect(textOf(await collect(engine, question))).toBe('Hi.');
});

test('parallel tool calls are told apart, also when their pieces are interleaved', async () => {
  const piece = (index: number, args: string, start: object = {}) =>
    chunk({
      tool_calls: [{ index, ...start, function: { ...('name' in start ? start : {}), arguments: args } }],
    });
  const { engine } = await setUp([
    eventStream(
      piece(0, '{"a"', { id: 'x', name: 'first' }),
      piece(1, '{"b"', { id: 'y', name: 'second' }),
      piece(0, ':1}'),
      piece(1, ':2}'),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ),
  ]);

  expect(callsOf(await collect(engine, question))).toEqual([
    { callId: 'x', name: 'first', argumentsJson: '{"a":1}' },
    { callId: 'y', name: 'second', argumentsJson: '{"b":2}' },
  ]);
});

test('tool calls without index, id or text arguments are still put together', async () => {
  const { engine } = await setUp([
    eventStream(
      chunk({ tool_calls: [{ function: { name: 'first', arguments: { a: 1 } } }] }),
      chunk({ tool_calls: [{ function: { name: 'second', arguments: '{"b"' } }] }),
      chunk({ tool_calls: [{ function: { arguments: ':2}' } }] }, 'tool_calls'),
    ),
  ]);

  expect(callsOf(await collect(engine, question))).toEqual([
    { callId: 'call_1', name: 'first', argumentsJson: '{"a":1}' },
    { callId: 'call_2', name: 'second', argumentsJson: '{"b":2}' },
  ]);
});

test('what failed says nothing of the key', async () => {
  const { engine } = await setUp([{ status: 401, steps: ['bad key secret'] }]);

  const failure = await collect(engine, question).catch((error: unknown) => error);

  expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('secret');
});
