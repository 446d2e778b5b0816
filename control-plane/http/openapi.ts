import { Type } from 'typebox';
import { OpenApiComponents } from './openapi-components.ts';
import type { DescribedOperation, OpenApiDocument } from './openapi-document.ts';
import { describeOperation } from './openapi-operation.ts';
import { type AnyRoute, route } from './route.ts';

/** Version label of the interface. */
const INTERFACE_VERSION = '1';

const INTRODUCTION = `Conversational voice agents: create an agent, publish it, start sessions, read what was said.

Send \`Authorization: Bearer <API key>\`. Lists are walked with \`cursor\` (follow \`next_cursor\` while \`has_more\` is
true) or with \`page\`. Times are ISO 8601 in UTC. Every reply carries \`X-Request-Id\`.`;

const TAGS: Readonly<Record<string, string>> = {
  agents: 'Agents, their draft configuration and their published versions.',
  sessions: 'Conversations: started, read, recorded, ended.',
  tools: 'What an agent can do during a conversation, shared by the agents of a workspace.',
  'knowledge sources': 'Texts an agent can look things up in.',
  'phone numbers': 'Rented and own numbers that agents answer.',
  'phone calls': 'Calls that agents place.',
  wallet: 'Plan balance and API credit.',
  voices: 'Voice models.',
  speech: 'Text to speech and speech to text.',
  service: 'The service itself: whether it is up, and this description.',
};

const HEADERS = {
  RequestId: {
    description: 'Id of the request: the one that was sent, or a new one.',
    schema: { type: 'string' },
    example: '0f8fad5bd9cb469fa16570867728950e',
  },
  Challenge: {
    description: 'How to authenticate (RFC 6750).',
    schema: { type: 'string' },
    example: 'Bearer',
  },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'string' }, example: '1' },
};

/** The OpenAPI 3.1 description of these routes, made from the schemas that validate them. */
export function describeApi(routes: readonly AnyRoute[], publicUrl: string): OpenApiDocument {
  const components = new OpenApiComponents();
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  for (const each of routes) {
    const ofPath = paths[each.path] ?? {};
    ofPath[each.method.toLowerCase()] = describeOperation(each, components);
    paths[each.path] = ofPath;
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Parley',
      version: INTERFACE_VERSION,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl.replace(/\/$/, '') || '/' }],
    tags: tagsOf(routes),
    paths,
    components: {
      schemas: components.schemas(),
      headers: HEADERS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'API key of a workspace.' },
      },
    },
  };
}

/** In the table's order; those that it doesn't know come first. */
function tagsOf(routes: readonly AnyRoute[]): OpenApiDocument['tags'] {
  const used = [...new Set(routes.map(({ tag }) => tag))];
  const names = Object.keys(TAGS);
  used.sort((a, b) => names.indexOf(a) - names.indexOf(b));
  return used.map((name) => ({ name, description: TAGS[name] ?? name }));
}

const Description = Type.Object({}, { additionalProperties: true, title: 'ApiDescription' });

/** The routes, and one more that describes them all, itself included. */
export function withDescription(routes: readonly AnyRoute[], publicUrl: string): AnyRoute[] {
  const described: AnyRoute[] = [
    ...routes,
    route({
      method: 'GET',
      path: '/openapi.json',
      access: 'open',
      summary: 'This description, as OpenAPI 3.1',
      tag: 'service',
      isCrossOrigin: true,
      reply: { status: 200, schema: Description },
      handle: async () => document as object as Record<string, unknown>,
    }),
  ];
  const document = describeApi(described, publicUrl);
  return described;
}
