import type { ControlPlaneOptions } from '../fakes/control-plane.ts';
import { startControlPlane } from '../fakes/control-plane.ts';
import { sessionDoc } from '../support/session-doc.ts';

interface MediaType {
  readonly example: unknown;
}

/** An operation of the API description. */
export interface Operation {
  /** Such as `GET /v1/agent/agents/{agent_id}`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly needsKey: boolean;
  readonly body: { readonly mediaType: string; readonly example: unknown } | null;
  readonly placeholders: readonly string[];
}

/** Values of path placeholders. */
export type Ids = Readonly<Record<string, string>>;

/** The whole control plane, and every operation it describes. */
export async function startEveryRoute(options: ControlPlaneOptions = {}) {
  const plane = await startControlPlane({ ...options, env: { PHONE_CARRIER: 'test', ...options.env } });
  const { body: description } = await plane.call('GET', '/openapi.json');
  const operations = operationsOf(description);

  /** One resource of each kind, of the first account; by the name of its placeholder. */
  async function makeOneOfEach(): Promise<Ids> {
    const create = async (path: string, body: unknown) => {
      const reply = await plane.call('POST', path, body);
      if (reply.status >= 300) throw new Error(`POST ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
      return reply.body;
    };
    const { tool_id } = await create('/v1/agent/tools', {
      name: 'Look up',
      url: 'https://api.example.com/x',
    });
    const form = new FormData();
    form.append('source', new Blob(['Open from 9 to 17.'], { type: 'text/plain' }), 'hours.txt');
    const source = await send('POST', '/v1/agent/knowledge-sources', form);
    const source_id = (JSON.parse(source.text) as { knowledge_source_id: string }).knowledge_source_id;
    const { agent_id } = await create('/v1/agent/agents', {
      name: 'Desk',
      config: { tools: { tool_ids: [tool_id] }, knowledge_base: { knowledge_source_ids: [source_id] } },
    });
    await create(`/v1/agent/agents/${agent_id}/publish`, {});
    const { available_phone_numbers } = (await plane.call('GET', '/v1/agent/available-phone-numbers')).body;
    const { phone_number_id } = await create('/v1/agent/phone-numbers', {
      phone_number: available_phone_numbers[0].phone_number,
      agent_id,
    });
    const session = sessionDoc({ workspaceId: plane.account.workspaceId, agentId: agent_id });
    await plane.store.collection<typeof session>('sessions').insertOne(session);
    return {
      agent_id,
      version_number: '1',
      tool_id,
      source_id,
      phone_number_id,
      session_id: session._id,
      user_id: plane.account.userId,
      // Belongs to the session: whoever finds no session gets no further.
      delivery_id: '0-d1',
    };
  }

  /** A request of any kind; the reply as text. */
  async function send(
    method: string,
    path: string,
    body?: string | FormData,
    headers: Record<string, string> = { authorization: `Bearer ${plane.account.apiKey}` },
  ) {
    const reply = await fetch(`${plane.baseUrl}${path}`, {
      method,
      headers: { ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  }

  /** The operation with these ids and the body of its example. */
  function perform(operation: Operation, ids: Ids, headers?: Record<string, string>) {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const id = ids[name];
      if (id === undefined) throw new Error(`${operation.name}: nobody makes a {${name}} yet`);
      return encodeURIComponent(id);
    });
    return send(operation.method, path, operation.body ? exampleBody(operation.body) : undefined, headers);
  }

  return { ...plane, operations, makeOneOfEach, perform, send };
}
export type EveryRoute = Awaited<ReturnType<typeof startEveryRoute>>;

function exampleBody({ mediaType, example }: NonNullable<Operation['body']>): string | FormData {
  if (mediaType === 'application/json') return JSON.stringify(example);
  const form = new FormData();
  for (const [name, value] of Object.entries(example as Record<string, string>)) {
    if (name === 'source') form.append(name, new Blob([value], { type: 'text/plain' }), 'file.txt');
    else form.append(name, value);
  }
  return form;
}

function operationsOf(description: {
  paths: Record<
    string,
    Record<string, { security: object[]; requestBody?: { content: Record<string, MediaType> } }>
  >;
}): Operation[] {
  return Object.entries(description.paths).flatMap(([path, ofPath]) =>
    Object.entries(ofPath).map(([method, { security, requestBody }]) => {
      const [content] = Object.entries(requestBody?.content ?? {});
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        needsKey: security.length === 1,
        body: content ? { mediaType: content[0], example: content[1].example } : null,
        placeholders: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ''),
      };
    }),
  );
}
