import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { createAgentMaterials } from '../../control-plane/agent-materials.ts';
import { createAgentLookup } from '../../control-plane/agents/agent-lookup.ts';
import { agentRoutes } from '../../control-plane/agents/agent-routes.ts';
import { createAgentService } from '../../control-plane/agents/agent-service.ts';
import { createAgentStore } from '../../control-plane/agents/agent-store.ts';
import { createAgentVersionStore } from '../../control-plane/agents/agent-version-store.ts';
import { createConfigChecks } from '../../control-plane/config-checks.ts';
import { createOutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import { createSecretBox, parseKeyList } from '../../shared/secret-box.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { makeTestStore } from '../support/test-store.ts';
import { cursors, type Json, serve } from './agents-setup.ts';

export const TOOLS = '/v1/agent/tools';
export const SOURCES = '/v1/agent/knowledge-sources';
export const AGENTS = '/v1/agent/agents';
export const WEBHOOK = { name: 'Look up', url: 'https://api.example/orders' };

/** Agents with their tools and knowledge sources over HTTP. Every host name but `*.private.example` is public. */
export async function setUpMaterials(options: { allowHosts?: readonly string[] } = {}) {
  const { store, rawBytes, remove } = await makeTestStore();
  onTestFinished(() => remove());
  const clock = new FakeClock();
  const outgoing = createOutgoingClient({
    resolve: async (host) => [host.endsWith('.private.example') ? '10.0.0.7' : '93.184.216.34'],
    allowHosts: options.allowHosts ?? [],
  });
  onTestFinished(() => outgoing.close());
  const agentStore = createAgentStore(store, cursors);
  const versions = createAgentVersionStore(store, cursors);
  const sealer = createSecretBox(parseKeyList(Buffer.alloc(32, 9).toString('base64')));
  const materials = createAgentMaterials({ store, cursors, sealer, outgoing, agents: agentStore, clock });
  const { tools, knowledge, readAttachments } = materials;
  await Promise.all([agentStore.ensureIndexes(), versions.ensureIndexes(), materials.ensureIndexes()]);
  const checks = createConfigChecks({ outgoing, llmModel: 'm', tools, knowledge });
  const agentDeps = { agents: agentStore, versions, sealer, readAttachments };
  const agents = createAgentService({ ...agentDeps, checks, clock });
  const lookup = createAgentLookup({ ...agentDeps, openTool: tools.open });
  const { ask, server } = await serve([...agentRoutes(agents), ...materials.routes]);

  async function made(path: string, body: Json, idField: string): Promise<string> {
    const reply = await ask('POST', path, body);
    if (reply.status !== 201) throw new Error(`not created: ${JSON.stringify(reply.body)}`);
    return String(reply.body[idField]);
  }

  const createTool = (body: Json = {}) => made(TOOLS, { ...WEBHOOK, ...body }, 'tool_id');
  const createAgent = (config: Json = {}) => made(AGENTS, { name: 'Desk', config }, 'agent_id');
  const attach = (agentId: string, ...toolIds: string[]) =>
    ask('PATCH', `${AGENTS}/${agentId}/config`, { tools: { tool_ids: toolIds } });
  const publish = (agentId: string) => ask('POST', `${AGENTS}/${agentId}/publish`);

  /** Sends a form; a text is a field, bytes are a file. */
  async function send(
    method: string,
    path: string,
    fields: Record<string, string | { name: string; bytes: string | Uint8Array; type?: string }>,
    key = 'good',
  ) {
    const form = new FormData();
    for (const [field, value] of Object.entries(fields)) {
      if (typeof value === 'string') form.append(field, value);
      else form.append(field, new Blob([value.bytes], { type: value.type ?? 'text/plain' }), value.name);
    }
    const reply = await fetch(`${server.baseUrl}${path}`, {
      method,
      body: form,
      headers: { authorization: `Bearer ${key}` },
    });
    const text = await reply.text();
    return { status: reply.status, body: (text === '' ? null : JSON.parse(text)) as Json };
  }

  async function createSource(text: string, name = 'notes.md'): Promise<string> {
    const reply = await send('POST', SOURCES, { source: { name, bytes: text } });
    if (reply.status !== 201) throw new Error(`source not created: ${JSON.stringify(reply.body)}`);
    return String(reply.body['knowledge_source_id']);
  }

  const useSources = (agentId: string, ...ids: string[]) =>
    ask('PATCH', `${AGENTS}/${agentId}/config`, { knowledge_base: { knowledge_source_ids: ids } });

  return {
    ask,
    server,
    send,
    clock,
    store,
    rawBytes,
    lookup,
    materials,
    createTool,
    createAgent,
    createSource,
    attach,
    useSources,
    publish,
  };
}
export type Materials = Awaited<ReturnType<typeof setUpMaterials>>;

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A webhook on loopback that keeps what it gets; `host` is its entry for hosts that may be private. */
export async function startWebhook(answer: (response: ServerResponse, request: ReceivedRequest) => void) {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const seen = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(pieces).toString('utf8'),
    };
    received.push(seen);
    answer(response, seen);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { received, host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}` };
}

/** Where each issue of a 422 lies, without the leading `body`. */
export function locsOf(body: unknown): string[] {
  return (body as { loc: (string | number)[] }[]).map(({ loc }) => loc.slice(1).join('.'));
}
