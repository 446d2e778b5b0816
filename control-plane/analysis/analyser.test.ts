import { describe, expect, test } from 'vitest';
import type { AgentConfig } from '../../shared/agent-config.ts';
import type { OutgoingRequest, OutgoingResponse } from '../../shared/outgoing/outgoing-client.ts';
import { OutgoingError } from '../../shared/outgoing/outgoing-error.ts';
import type { TimelineItem } from '../../shared/session-timeline.ts';
import { createAnalyser } from './analyser.ts';

type Wishes = Partial<AgentConfig['analysis']>;
type Custom = AgentConfig['llm']['custom'];

const never = new AbortController().signal;

const ITEMS: readonly TimelineItem[] = [
  { type: 'message', role: 'assistant', content: 'Hello!', turn_id: 1, created_at: null },
  { type: 'message', role: 'user', content: 'A room for two nights please.', turn_id: 2, created_at: null },
];

const WISHES: Wishes = {
  data_fields: [
    { name: 'nights', type: 'number', description: 'how many', enum_options: [] },
    { name: 'kind', type: 'enum', description: 'room', enum_options: ['single', 'double'] },
  ],
  criteria: [{ name: 'booked', description: 'a room was booked' }],
};

const REPLY = {
  summary: 'The caller wants a room.',
  data: { nights: { value: 2, rationale: 'two nights' }, kind: { value: null, rationale: 'not said' } },
  criteria: { booked: { result: 'failure', rationale: 'nothing was booked' } },
};

/** Replies in turn: an object is a chat reply's content, a number a status, an error is thrown. */
function setUp(
  replies: readonly (object | string | number | Error)[],
  wishes: Wishes = WISHES,
  custom: Custom = null,
) {
  const asked: { via: 'operator' | 'guarded'; input: OutgoingRequest }[] = [];
  const client = (via: 'operator' | 'guarded') => ({
    async request(input: OutgoingRequest): Promise<OutgoingResponse> {
      asked.push({ via, input });
      const reply = replies[asked.length - 1];
      if (reply instanceof Error) throw reply;
      if (typeof reply === 'number') return answer(reply, '');
      const content = typeof reply === 'string' ? reply : JSON.stringify(reply);
      return answer(200, JSON.stringify({ choices: [{ message: { content } }] }));
    },
  });
  const analyser = createAnalyser({
    house: { baseUrl: 'http://10.0.0.5:8000/v1/', apiKey: 'key', model: 'm' },
    operatorHttp: client('operator'),
    http: client('guarded'),
  });
  const analysis = {
    summary: { enabled: true, prompt: null, language: 'en' as const },
    data_fields: [],
    criteria: [],
    ...wishes,
  };
  // Only these two sections are read.
  const config = { analysis, llm: { tier: 'medium', model: 'default', custom } } as unknown as AgentConfig;
  const analyse = (items = ITEMS) => analyser.analyse(config, items, never);
  return { asked, analyse };
}

function answer(status: number, body: string): OutgoingResponse {
  return { status, headers: {}, body: Buffer.from(body), isTruncated: false };
}

test('the model is asked once, with a schema of exactly what the agent wants to know', async () => {
  const { asked, analyse } = setUp([REPLY]);
  const result = await analyse();

  expect(result).toEqual({
    status: 'completed',
    summary: 'The caller wants a room.',
    data: [
      { name: 'nights', type: 'number', value: 2, rationale: 'two nights' },
      { name: 'kind', type: 'enum', value: null, rationale: 'not said' },
    ],
    criteriaResults: [{ name: 'booked', result: 'failure', rationale: 'nothing was booked' }],
    error: null,
  });
  const [{ via, input } = { via: '', input: null }] = asked;
  expect([via, input?.url, input?.deadlineMs]).toEqual([
    'operator',
    'http://10.0.0.5:8000/v1/chat/completions',
    30_000,
  ]);
  expect(input?.headers?.['authorization']).toBe('Bearer key');
  const body = JSON.parse(String(input?.body));
  expect(body.response_format.json_schema.schema).toMatchObject({
    required: ['summary', 'data', 'criteria'],
    additionalProperties: false,
    properties: { data: { required: ['nights', 'kind'] } },
  });
  expect(body.messages[1].content).toBe('Agent: Hello!\nCaller: A room for two nights please.');
});

test('what is not asked for is not there, whatever the model says', async () => {
  const { analyse } = setUp([{ summary: 'Short.' }], {});
  expect(await analyse()).toEqual({
    status: 'completed',
    summary: 'Short.',
    data: [],
    criteriaResults: [],
    error: null,
  });
});

test('an agent’s own model goes first, through the client that reaches public addresses alone', async () => {
  const custom = { base_url: 'https://llm.example/v1/chat/completions', model: 'own', api_key: 'theirs' };
  const { asked, analyse } = setUp([REPLY], WISHES, custom);
  expect((await analyse()).status).toBe('completed');
  expect(asked.map(({ via, input }) => [via, input.url])).toEqual([
    ['guarded', 'https://llm.example/v1/chat/completions'],
  ]);
});

test('JSON in a code block is read', async () => {
  const { analyse } = setUp([`\`\`\`json\n${JSON.stringify(REPLY)}\n\`\`\``]);
  expect((await analyse()).status).toBe('completed');
});

describe('a model that fails', () => {
  test.each<[string, object | string | number | Error]>([
    ['does not answer', new OutgoingError('timed_out')],
    ['answers 500', 500],
    ['says something else', 'I am sorry'],
    ['breaks the schema', { ...REPLY, criteria: { booked: { result: 'maybe', rationale: '' } } }],
    ['invents a field', { ...REPLY, mood: 'good' }],
    [
      'gives a value of another type',
      { ...REPLY, data: { ...REPLY.data, nights: { value: '2', rationale: '' } } },
    ],
  ])('one that %s is asked once more, and the second reply counts', async (_what, first) => {
    const { asked, analyse } = setUp([first, REPLY]);
    expect((await analyse()).status).toBe('completed');
    expect(asked).toHaveLength(2);
  });

  test.each<[string, number | Error | string, string]>([
    ['time-outs', new OutgoingError('timed_out'), 'Language model: Request timed out'],
    ['refusals', 401, 'Language model answered 401'],
    ['odd replies', 'hm', 'Language model gave a reply of another form'],
  ])('two %s make an error with its cause, and nothing else', async (_what, reply, error) => {
    const { asked, analyse } = setUp([reply, reply, REPLY]);
    expect(await analyse()).toEqual({ status: 'error', summary: null, data: [], criteriaResults: [], error });
    expect(asked).toHaveLength(2);
  });
});

describe('skipped without asking anybody', () => {
  test('when the caller never spoke', async () => {
    const { asked, analyse } = setUp([REPLY]);
    const silentCaller: TimelineItem = { ...ITEMS[1], content: '  ' } as TimelineItem;
    expect((await analyse([ITEMS[0] as TimelineItem, silentCaller])).status).toBe('skipped');
    expect(asked).toEqual([]);
  });

  test('when nothing is to be known', async () => {
    const { asked, analyse } = setUp([REPLY], { summary: { enabled: false, prompt: null, language: 'en' } });
    expect((await analyse()).status).toBe('skipped');
    expect(asked).toEqual([]);
  });
});

test('a very long call is cut in its middle', async () => {
  const items = Array.from({ length: 3_000 }, (_, i): TimelineItem => {
    return {
      type: 'message',
      role: 'user',
      content: `word ${i} of a long story`,
      turn_id: i,
      created_at: null,
    };
  });
  const { asked, analyse } = setUp([REPLY]);
  await analyse(items);
  const text: string = JSON.parse(String(asked[0]?.input.body)).messages[1].content;
  expect(text.length).toBeLessThan(60_100);
  expect(text).toContain('word 0 of');
  expect(text).toContain('[…]');
  expect(text).toContain('word 2999 of');
});
