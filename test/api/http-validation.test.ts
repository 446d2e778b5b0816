import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { route } from '../../control-plane/http/route.ts';
import { type ApiServer, startApiServer } from '../fakes/api-server.ts';

const Body = Type.Object(
  {
    name: Type.String({ minLength: 2, maxLength: 5 }),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    ratio: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    is_on: Type.Optional(Type.Boolean({ default: true })),
    color: Type.Optional(Type.Enum(['red', 'green', 'blue'])),
    mode: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
    kind: Type.Optional(Type.Literal('only')),
    tags: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z]+$' }), { maxItems: 3, minItems: 1 })),
    note: Type.Optional(Type.Union([Type.Null(), Type.String({ maxLength: 3 })])),
    at: Type.Optional(Type.String({ format: 'date-time' })),
    meta: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    vars: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z]+$' }), Type.String(), { additionalProperties: false }),
    ),
    shape: Type.Optional(
      Type.Union([
        Type.Object({ type: Type.Literal('circle'), radius: Type.Number() }, { additionalProperties: false }),
        Type.Object({ type: Type.Literal('box'), side: Type.Number() }, { additionalProperties: false }),
      ]),
    ),
    hook: Type.Optional(
      Type.Union([Type.Object({ url: Type.String() }), Type.Array(Type.Object({ url: Type.String() }))]),
    ),
  },
  { additionalProperties: false },
);

const Query = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30 })),
  full: Type.Optional(Type.Boolean({ default: false })),
  order: Type.Optional(Type.Enum(['up', 'down'])),
  tag: Type.Optional(Type.Array(Type.String())),
});

const routes = [
  route({
    method: 'POST',
    path: '/check',
    access: 'open',
    summary: 'Echo',
    tag: 'T',
    body: Body,
    reply: { status: 200, schema: Type.Object({ body: Type.Unknown() }) },
    handle: async ({ body }) => ({ body }),
  }),
  route({
    method: 'GET',
    path: '/list/{id}',
    access: 'open',
    summary: 'Echo',
    tag: 'T',
    params: Type.Object({ id: Type.String({ maxLength: 8 }) }),
    query: Query,
    reply: { status: 200, schema: Type.Object({ query: Type.Unknown(), id: Type.String() }) },
    handle: async ({ query, params }) => ({ query, id: params.id }),
  }),
];

let api: ApiServer;
beforeAll(async () => {
  api = await startApiServer(routes);
});
afterAll(() => api.stop());

const send = (body: unknown) => api.ask('/check', { method: 'POST', body: JSON.stringify(body) });

async function issuesOf(body: unknown): Promise<{ loc: string[] }[]> {
  const reply = await send(body);
  expect(reply.status).toBe(422);
  return reply.json() as Promise<{ loc: string[] }[]>;
}

test.each<[string, unknown, object]>([
  ['missing', {}, { type: 'missing', loc: ['body', 'name'], msg: 'Field required', ctx: {} }],
  [
    'unknown field',
    { name: 'ab', color_: 1 },
    { type: 'extra_forbidden', loc: ['body', 'color_'], msg: 'Extra inputs are not permitted', ctx: {} },
  ],
  [
    'too long',
    { name: 'abcdef' },
    {
      type: 'string_too_long',
      loc: ['body', 'name'],
      msg: 'String should have at most 5 characters',
      ctx: { max_length: 5 },
    },
  ],
  [
    'too short',
    { name: 'a' },
    {
      type: 'string_too_short',
      loc: ['body', 'name'],
      msg: 'String should have at least 2 characters',
      ctx: { min_length: 2 },
    },
  ],
  [
    'no string',
    { name: 1 },
    { type: 'string_type', loc: ['body', 'name'], msg: 'Input should be a valid string', ctx: {} },
  ],
  [
    'null where it has no meaning',
    { name: null },
    { type: 'string_type', loc: ['body', 'name'], msg: 'Input should be a valid string', ctx: {} },
  ],
  [
    'number as text in a body',
    { name: 'ab', count: '3' },
    { type: 'int_type', loc: ['body', 'count'], msg: 'Input should be a valid integer', ctx: {} },
  ],
  [
    'fraction',
    { name: 'ab', count: 1.5 },
    {
      type: 'int_from_float',
      loc: ['body', 'count'],
      msg: 'Input should be a valid integer, got a number with a fractional part',
      ctx: {},
    },
  ],
  [
    'too small',
    { name: 'ab', count: 0 },
    {
      type: 'greater_than_equal',
      loc: ['body', 'count'],
      msg: 'Input should be greater than or equal to 1',
      ctx: { ge: 1 },
    },
  ],
  [
    'too big',
    { name: 'ab', count: 11 },
    {
      type: 'less_than_equal',
      loc: ['body', 'count'],
      msg: 'Input should be less than or equal to 10',
      ctx: { le: 10 },
    },
  ],
  [
    'not above',
    { name: 'ab', ratio: 0 },
    { type: 'greater_than', loc: ['body', 'ratio'], msg: 'Input should be greater than 0', ctx: { gt: 0 } },
  ],
  [
    'no boolean',
    { name: 'ab', is_on: 'true' },
    { type: 'bool_type', loc: ['body', 'is_on'], msg: 'Input should be a valid boolean', ctx: {} },
  ],
  [
    'outside an enum',
    { name: 'ab', color: 'pink' },
    {
      type: 'literal_error',
      loc: ['body', 'color'],
      msg: "Input should be 'red', 'green' or 'blue'",
      ctx: { expected: "'red', 'green' or 'blue'" },
    },
  ],
  [
    'outside a union of literals',
    { name: 'ab', mode: 'c' },
    {
      type: 'literal_error',
      loc: ['body', 'mode'],
      msg: "Input should be 'a' or 'b'",
      ctx: { expected: "'a' or 'b'" },
    },
  ],
  [
    'not the one literal',
    { name: 'ab', kind: 'x' },
    {
      type: 'literal_error',
      loc: ['body', 'kind'],
      msg: "Input should be 'only'",
      ctx: { expected: "'only'" },
    },
  ],
  [
    'list too long',
    { name: 'ab', tags: ['a', 'b', 'c', 'd'] },
    {
      type: 'too_long',
      loc: ['body', 'tags'],
      msg: 'List should have at most 3 items',
      ctx: { field_type: 'List', max_length: 3 },
    },
  ],
  [
    'list too short',
    { name: 'ab', tags: [] },
    {
      type: 'too_short',
      loc: ['body', 'tags'],
      msg: 'List should have at least 1 item',
      ctx: { field_type: 'List', min_length: 1 },
    },
  ],
  [
    'an entry of a list',
    { name: 'ab', tags: ['a', 'B'] },
    {
      type: 'string_pattern_mismatch',
      loc: ['body', 'tags', 1],
      msg: "String should match pattern '^[a-z]+$'",
      ctx: { pattern: '^[a-z]+$' },
    },
  ],
  [
    'the text of a nullable field',
    { name: 'ab', note: 'abcd' },
    {
      type: 'string_too_long',
      loc: ['body', 'note'],
      msg: 'String should have at most 3 characters',
      ctx: { max_length: 3 },
    },
  ],
  [
    'the type of a nullable field',
    { name: 'ab', note: 5 },
    { type: 'string_type', loc: ['body', 'note'], msg: 'Input should be a valid string', ctx: {} },
  ],
  [
    'no time',
    { name: 'ab', at: 'yesterday' },
    { type: 'datetime_parsing', loc: ['body', 'at'], msg: 'Input should be a valid datetime', ctx: {} },
  ],
  [
    'no object',
    'text',
    { type: 'dict_type', loc: ['body'], msg: 'Input should be a valid dictionary', ctx: {} },
  ],
  [
    'a key of a record',
    { name: 'ab', vars: { 'a-b': 'x' } },
    { type: 'extra_forbidden', loc: ['body', 'vars', 'a-b'], msg: 'Extra inputs are not permitted', ctx: {} },
  ],
  [
    'the branch of a union that was meant',
    { name: 'ab', shape: { type: 'box', side: 'wide' } },
    { type: 'float_type', loc: ['body', 'shape', 'side'], msg: 'Input should be a valid number', ctx: {} },
  ],
  [
    'the branch of a union by its type',
    { name: 'ab', hook: [{ url: 1 }] },
    { type: 'string_type', loc: ['body', 'hook', 0, 'url'], msg: 'Input should be a valid string', ctx: {} },
  ],
])('422: %s', async (_name, body, issue) => {
  expect(await issuesOf(body)).toEqual([issue]);
});

test('every problem is listed at once', async () => {
  const issues = await issuesOf({ name: 'a', count: 99, x: 1 });

  expect(issues.map((i) => i.loc.join('.')).sort()).toEqual(['body.count', 'body.name', 'body.x']);
});

test('what was sent is never repeated', async () => {
  const reply = await send({
    name: 'sesame-secret-name',
    color: 'sesame-color',
    at: 'sesame-at',
    tags: ['SESAME'],
    shape: { type: 'sesame' },
  });

  expect((await reply.text()).toLowerCase()).not.toContain('sesame');
});

test('a list of problems has an end', async () => {
  const flood = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x${i}`, 1]));

  expect((await issuesOf({ name: 'ab', ...flood })).length).toBe(100);
});

test('characters are counted as code points', async () => {
  expect((await send({ name: '🔑🔑🔑🔑🔑' })).status).toBe(200);
});

test('defaults are not written into a body: what was left out stays out', async () => {
  expect(await (await send({ name: 'ab' })).json()).toEqual({ body: { name: 'ab' } });
});

test('arbitrary JSON under a record comes through as it was', async () => {
  const meta = { a: [1, { b: null }], ключ: 'ü', constructor: 'x' };

  expect(await (await send({ name: 'ab', meta })).json()).toEqual({ body: { name: 'ab', meta } });
});

test('a query is turned into the types of its schema, defaults filled in, unknown parameters ignored', async () => {
  const reply = await api.ask('/list/1?limit=5&full=true&order=up&tag=a&tag=b&unknown=1&unknown=2');
  const bare = await api.ask('/list/1');

  expect(await reply.json()).toEqual({
    id: '1',
    query: { limit: 5, full: true, order: 'up', tag: ['a', 'b'] },
  });
  expect(await bare.json()).toEqual({ id: '1', query: { limit: 30, full: false } });
});

test.each([
  ['limit=x', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
  ['limit=', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
  ['limit=1.5', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
  ['limit=0x10', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
  ['limit=1e1', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
  ['limit=0', 'greater_than_equal', 'Input should be greater than or equal to 1'],
  ['limit=101', 'less_than_equal', 'Input should be less than or equal to 100'],
  ['full=maybe', 'bool_parsing', 'Input should be a valid boolean, unable to interpret input'],
  ['order=left', 'literal_error', "Input should be 'up' or 'down'"],
  ['limit=1&limit=2', 'value_error', 'Value error, parameter must be given once'],
])('422 for the query %s', async (query, type, msg) => {
  const reply = await api.ask(`/list/1?${query}`);

  expect(reply.status).toBe(422);
  expect(await reply.json()).toEqual([
    expect.objectContaining({ type, msg, loc: ['query', query.split('=')[0]] }),
  ]);
});

test('a path parameter that breaks its schema is 422 with loc path', async () => {
  const reply = await api.ask('/list/123456789');

  expect(await reply.json()).toEqual([
    {
      type: 'string_too_long',
      loc: ['path', 'id'],
      msg: 'String should have at most 8 characters',
      ctx: { max_length: 8 },
    },
  ]);
});

test('an escaped path parameter is decoded, a broken escape stays text', async () => {
  expect(await (await api.ask('/list/a%2Fb')).json()).toMatchObject({ id: 'a/b' });
  expect((await api.ask('/list/%zz')).status).toBe(200);
});
