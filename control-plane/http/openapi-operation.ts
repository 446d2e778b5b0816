import type { TSchema } from 'typebox';
import { FAILURES } from '../../shared/errors.ts';
import type { OpenApiComponents } from './openapi-components.ts';
import type {
  DescribedOperation,
  DescribedParameter,
  DescribedReply,
  DescribedSchema,
} from './openapi-document.ts';
import { exampleOf } from './openapi-example.ts';
import { describeRefusal, refusalsOf } from './openapi-refusals.ts';
import type { AnyRoute } from './route.ts';

const REPLY_TEXTS = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted: the work goes on after the reply',
  204: 'Done; without a body',
} as const;

const VERBS = { GET: 'get', POST: 'create', PUT: 'replace', PATCH: 'update', DELETE: 'delete' } as const;

/** One route, described. */
export function describeOperation(route: AnyRoute, components: OpenApiComponents): DescribedOperation {
  const operationId = operationIdOf(route);
  const parameters = describeParameters(route, components);
  return {
    operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: describeBody(route, route.body, components) }),
    responses: {
      [route.reply.status]: describeReply(route, components),
      ...Object.fromEntries(
        refusalsOf(route).map((kind) => [
          FAILURES[kind],
          describeRefusal(kind, components, route.hasReasons),
        ]),
      ),
    },
  };
}

/** `GET /v1/agent/agents/{agent_id}/config` → `getAgentConfig`, `POST …/agents/{agent_id}/publish` → `publishAgent`. */
export function operationIdOf({ method, path, reply }: AnyRoute): string {
  const segments = path
    .replace(/\.json$/, '')
    .replace(/^\/v1\/(agent\/)?/, '/')
    .split('/')
    .slice(1);
  const words = segments.flatMap((segment, at) => {
    if (segment.startsWith('{')) return [];
    const isOneOfMany = segments[at + 1]?.startsWith('{') && segment.endsWith('s');
    return [pascal(isOneOfMany ? singular(segment) : segment)];
  });
  const last = words.at(-1) ?? '';
  const isAction = method === 'POST' && !last.endsWith('s') && words.length > 1;
  if (isAction) return `${last[0]?.toLowerCase()}${last.slice(1)}${words.slice(0, -1).join('')}`;
  const isList = method === 'GET' && hasProperty(reply.schema, 'has_more');
  const isOneNew = method === 'POST' && last.endsWith('s') && last !== 'Analysis';
  const name = isOneNew ? singular(words.join('')) : words.join('');
  return `${isList ? 'list' : VERBS[method]}${name}`;
}

function singular(word: string): string {
  return word.replace(/ies$/, 'y').replace(/s$/, '');
}

function pascal(segment: string): string {
  return segment
    .split(/[-_.]/)
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('');
}

function securityOf({ access }: AnyRoute): Record<string, string[]>[] {
  if (access === 'open') return [];
  return access === 'api_key' ? [{ bearer: [] }] : [{ bearer: [] }, {}];
}

function describeParameters(route: AnyRoute, components: OpenApiComponents): DescribedParameter[] {
  const of = (place: 'path' | 'query', schema: TSchema | undefined) => {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, TSchema>;
      required?: string[];
    };
    return Object.entries(properties).map(([name, property]) =>
      parameter(name, place, place === 'path' || required.includes(name), components.describe(property)),
    );
  };
  const headers = Object.entries(route.requestHeaders ?? {}).map(([name, schema]) =>
    parameter(name, 'header', false, components.describe(schema)),
  );
  return [...of('path', route.params), ...of('query', route.query), ...headers];
}

function parameter(
  name: string,
  place: DescribedParameter['in'],
  required: boolean,
  described: DescribedSchema,
): DescribedParameter {
  const { description, ...schema } = described;
  return {
    name,
    in: place,
    required,
    ...(typeof description === 'string' ? { description } : {}),
    schema,
  };
}

function describeBody(route: AnyRoute, body: TSchema, components: OpenApiComponents) {
  const schema = components.describeNamed(body, `${capitalised(operationIdOf(route))}Body`);
  return {
    required: route.isBodyOptional !== true,
    content: {
      [route.multipart ? 'multipart/form-data' : 'application/json']: {
        schema,
        example: exampleFor(schema, components),
      },
    },
  };
}

function describeReply(route: AnyRoute, components: OpenApiComponents): DescribedReply {
  const { status, schema } = route.reply;
  const headers = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
  if (!schema || status === 204) return { description: REPLY_TEXTS[status], headers };
  const described = components.describeNamed(schema, `${capitalised(operationIdOf(route))}Reply`);
  return {
    description: REPLY_TEXTS[status],
    headers,
    content: { 'application/json': { schema: described, example: exampleFor(described, components) } },
  };
}

function exampleFor(schema: DescribedSchema, components: OpenApiComponents): unknown {
  const named = components.schemas();
  const resolve = (of: DescribedSchema): DescribedSchema => {
    const { $ref } = of;
    return typeof $ref === 'string' ? (named[$ref.slice('#/components/schemas/'.length)] ?? {}) : of;
  };
  return exampleOf(schema, '', resolve);
}

function hasProperty(schema: TSchema | undefined, name: string): boolean {
  const { properties = {} } = (schema ?? {}) as { properties?: object };
  return name in properties;
}

function capitalised(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
