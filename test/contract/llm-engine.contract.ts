import { describe, expect, onTestFinished, test } from 'vitest';
import type { LlmEngine, LlmEvent, LlmRequest, LlmTool } from '../../media-worker/llm/llm-engine.ts';

export interface LlmSubject {
  readonly engine: LlmEngine;
  readonly dispose?: () => Promise<void>;
}

/** How an engine under test is made to answer in each case. */
export interface LlmSubjects {
  /** Answers "how much is a cleaning" with a sentence that has `eighty dollars` in it, in several pieces. */
  readonly talks: () => Promise<LlmSubject>;
  /** Answers "what is the weather in paris" by calling `get_weather` with `{"city":"Paris"}`. */
  readonly callsTool: () => Promise<LlmSubject>;
  /** Can't answer at all; null for an engine that always can. */
  readonly fails: (() => Promise<LlmSubject>) | null;
}

const WEATHER: LlmTool = {
  name: 'get_weather',
  description: 'Current weather forecast of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

export function llmRequest(callerText: string, change: Partial<LlmRequest> = {}): LlmRequest {
  return {
    messages: [
      { role: 'system', content: 'You are Ava. A cleaning costs eighty dollars.' },
      { role: 'user', content: callerText },
    ],
    tools: [],
    sessionId: 'ses_1',
    endUserId: '',
    language: 'en',
    ...change,
  };
}

export async function collect(
  engine: LlmEngine,
  request: LlmRequest,
  signal = new AbortController().signal,
): Promise<LlmEvent[]> {
  const events: LlmEvent[] = [];
  for await (const event of engine.reply(request, signal)) events.push(event);
  return events;
}

export function textOf(events: readonly LlmEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
}

/** The promises of the `LlmEngine` port. */
export function llmEngineContract(name: string, subjects: LlmSubjects): void {
  describe(`replies by ${name}`, () => {
    async function setUp(create: () => Promise<LlmSubject>): Promise<LlmEngine> {
      const { engine, dispose } = await create();
      onTestFinished(async () => dispose?.());
      return engine;
    }
    const question = llmRequest('how much is a cleaning');

    test('the text comes in pieces, none of them empty, and then the reply ends', async () => {
      const events = await collect(await setUp(subjects.talks), question);

      const pieces = events.filter((event) => event.type === 'text');
      expect(pieces.length).toBeGreaterThan(1);
      expect(pieces.every((piece) => piece.text !== '')).toBe(true);
      expect(textOf(events)).toContain('eighty dollars');
    });

    test('a tool call comes once and whole', async () => {
      const engine = await setUp(subjects.callsTool);

      const events = await collect(engine, llmRequest('what is the weather in paris', { tools: [WEATHER] }));

      const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
      expect(calls).toHaveLength(1);
      expect(calls[0]).toMatchObject({ name: 'get_weather' });
      expect(calls[0]?.callId).not.toBe('');
      expect(JSON.parse(calls[0]?.argumentsJson ?? '')).toEqual({ city: 'Paris' });
    });

    test('a signal that has aborted gets nothing', async () => {
      const engine = await setUp(subjects.talks);

      expect(await collect(engine, question, AbortSignal.abort())).toEqual([]);
    });

    test('aborting after the first piece ends the reply within 50 ms, without an error', async () => {
      const engine = await setUp(subjects.talks);
      const controller = new AbortController();
      let abortedAtMs = 0;
      const events: LlmEvent[] = [];

      for await (const event of engine.reply(question, controller.signal)) {
        events.push(event);
        abortedAtMs ||= performance.now();
        controller.abort();
      }

      expect(performance.now() - abortedAtMs).toBeLessThan(50);
      expect(events).toHaveLength(1);
    });

    test('leaving the loop is enough to end the reply', async () => {
      const engine = await setUp(subjects.talks);

      for await (const event of engine.reply(question, new AbortController().signal)) {
        if (event.type === 'text') break;
      }

      expect(textOf(await collect(engine, question))).toContain('eighty dollars');
    });

    test('replies asked for at once do not mix', async () => {
      const engine = await setUp(subjects.talks);

      const replies = await Promise.all([1, 2, 3].map(() => collect(engine, question)));

      for (const events of replies) expect(textOf(events)).toBe(textOf(replies[0] ?? []));
    });

    test('warming up never throws, also when the model is down', async () => {
      await expect((await setUp(subjects.talks)).prewarm()).resolves.toBeUndefined();
      if (subjects.fails) await expect((await setUp(subjects.fails)).prewarm()).resolves.toBeUndefined();
    });

    const { fails } = subjects;
    if (fails) {
      test("a model that can't answer is an upstream failure", async () => {
        await expect(collect(await setUp(fails), question)).rejects.toMatchObject({
          kind: 'upstream_failed',
        });
      });
    }
  });
}
