import { Ajv2020 } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeApi } from '../../control-plane/http/openapi.ts';
import { type AnyRoute, route } from '../../control-plane/http/route.ts';
import { startControlPlane } from '../fakes/control-plane.ts';

interface Reply {
  readonly description: string;
  readonly headers?: object;
  readonly content?: Record<string, { schema: Record<string, unknown>; example?: unknown }>;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: string[];
  readonly security: object[];
  readonly parameters?: { name: string; in: string; required: boolean; schema: object }[];
  readonly requestBody?: { required: boolean; content: NonNullable<Reply['content']> };
  readonly responses: Record<string, Reply>;
}
interface Described {
  readonly name: string;
  readonly path: string;
  readonly operation: Operation;
}

let plane: Awaited<ReturnType<typeof startControlPlane>>;
interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly tags: { name: string; description: string }[];
  readonly components: { schemas: object };
}
let document: Document;
let all: Described[];
beforeAll(async () => {
  plane = await startControlPlane();
  const reply = await fetch(`${plane.baseUrl}/openapi.json`);
  expect(reply.status).toBe(200);
  document = (await reply.json()) as Document;
  all = Object.entries(document.paths).flatMap(([path, ofPath]) =>
    Object.entries(ofPath).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation,
    })),
  );
});
afterAll(() => plane.stop());

function find(name: string): Operation {
  const found = all.find((each) => each.name === name);
  if (!found) throw new Error(`${name} is not described`);
  return found.operation;
}

const contents = ({ operation: { requestBody, responses } }: Described) =>
  [requestBody, ...Object.values(responses)].flatMap((part) => Object.entries(part?.content ?? {}));

describe('the description', () => {
  test('is OpenAPI 3.1 of interface version 1, open to everybody', () => {
    expect(document).toMatchObject({ openapi: '3.1.1', info: { title: 'Parley', version: '1' } });
  });

  test('describes what the interface names, and itself', () => {
    const names = all.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'GET /wallet/{user_id}/package',
        'GET /wallet/{user_id}/api-credit',
        'GET /v1/agent/sessions',
        'POST /v1/agent/sessions',
        'GET /v1/agent/sessions/{session_id}',
        'GET /v1/agent/sessions/{session_id}/recording',
        'POST /v1/agent/sessions/{session_id}/end',
        'GET /v1/agent/agents',
        'POST /v1/agent/agents',
        'GET /v1/agent/agents/{agent_id}',
        'PATCH /v1/agent/agents/{agent_id}',
        'GET /v1/agent/agents/{agent_id}/config',
        'PATCH /v1/agent/agents/{agent_id}/config',
        'POST /v1/agent/tools',
        'GET /openapi.json',
        'GET /healthz',
        'GET /readyz',
      ]),
    );
  });

  test('gives every operation a summary, an id of its own and a tag that is described', () => {
    const tags = document.tags.filter(({ name, description }) => description !== name);
    for (const { operation } of all) {
      expect(operation.summary).toMatch(/^[A-Z].{8,}[^.]$/);
      expect(tags.map(({ name }) => name)).toContain(operation.tags[0]);
    }
    const ids = all.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(
      expect.arrayContaining(['listAgents', 'createSession', 'updateAgentConfig', 'publishAgent']),
    );
  });

  test('names every body and every reply as a component, and has no reference that leads nowhere', () => {
    const { schemas } = document.components;
    for (const described of all) {
      for (const [, { schema }] of contents(described)) {
        expect(schema, described.name).toEqual({
          $ref: expect.stringMatching(/^#\/components\/schemas\/[A-Z]/),
        });
      }
    }
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      (m) => m[1],
    );
    expect(new Set(references)).toEqual(new Set(Object.keys(schemas)));
  });

  test('has an example of every body and every reply, true to its schema', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajvFormats.default.default(ajv);
    ajv.addSchema({ $id: 'api', ...document });
    let count = 0;
    for (const described of all) {
      for (const [, { schema, example }] of contents(described)) {
        const validate = ajv.compile({ $ref: `api${String(schema['$ref'])}` });
        expect(example, described.name).toBeDefined();
        validate(example);
        expect(validate.errors, described.name).toBeNull();
        count++;
      }
    }
    expect(count).toBeGreaterThan(60);
  });
});

describe('the refusals that are described', () => {
  test('an operation that needs a key has 401 with its challenge, 503 with its pause, and bearer security', () => {
    const operation = find('GET /v1/agent/agents/{agent_id}');
    expect(operation.security).toEqual([{ bearer: [] }]);
    expect(Object.keys(operation.responses)).toEqual(['200', '401', '404', '503']);
    expect(operation.responses['401']).toMatchObject({
      headers: { 'WWW-Authenticate': {} },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    });
    expect(operation.responses['503']).toMatchObject({ headers: { 'Retry-After': {} } });
  });

  test('a body brings 400, a bare 415 and the list of 422', () => {
    const { responses } = find('POST /v1/agent/agents');
    expect(Object.keys(responses)).toEqual(['201', '400', '401', '403', '413', '415', '422', '503']);
    expect(responses['415']).not.toHaveProperty('content');
    expect(responses['422']).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/FieldIssues' } } },
    });
  });

  test('session creation has every refusal of the interface, and a way without a key', () => {
    const { responses, security, parameters } = find('POST /v1/agent/sessions');
    const refusals = ['400', '401', '402', '403', '404', '409', '429', '502', '503'];
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(refusals));
    expect(security).toEqual([{ bearer: [] }, {}]);
    expect(parameters).toEqual([expect.objectContaining({ name: 'Origin', in: 'header', required: false })]);
  });

  test('a list has the page parameters with their limits', () => {
    const { parameters = [] } = find('GET /v1/agent/sessions');
    const pageSize = parameters.find(({ name }) => name === 'page_size');
    expect(pageSize).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 30 },
    });
  });
});

describe('a schema’s name', () => {
  const answering = (path: string, schema: ReturnType<typeof Type.Object>): AnyRoute =>
    route({
      method: 'GET',
      path,
      access: 'open',
      summary: 'X',
      tag: 'X',
      reply: { status: 200, schema },
      handle: async () => ({}) as never,
    });

  test('is its title, wherever it stands', () => {
    const Inner = Type.Object({ a: Type.String() }, { title: 'Inner' });
    const { components } = describeApi(
      [answering('/things', Type.Object({ one: Inner, many: Type.Array(Inner) }))],
      '',
    );
    const reference = { $ref: '#/components/schemas/Inner' };
    expect(components.schemas).toEqual({
      GetThingsReply: {
        type: 'object',
        required: ['one', 'many'],
        properties: { one: reference, many: { type: 'array', items: reference } },
      },
      Inner: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
    });
  });

  test('belongs to one schema only', () => {
    const routes = [
      answering('/a', Type.Object({ a: Type.String() }, { title: 'Thing' })),
      answering('/b', Type.Object({ b: Type.String() }, { title: 'Thing' })),
    ];
    expect(() => describeApi(routes, '')).toThrow('two different schemas have the title Thing');
  });

  test('properties called like keywords are properties', () => {
    const schema = Type.Object({ title: Type.String(), default: Type.String(), enum: Type.Literal('x') });
    const { components } = describeApi([answering('/a', schema)], '');
    expect(components.schemas['GetAReply']).toEqual({
      type: 'object',
      required: ['title', 'default', 'enum'],
      properties: {
        title: { type: 'string' },
        default: { type: 'string' },
        enum: { type: 'string', const: 'x' },
      },
    });
  });
});
