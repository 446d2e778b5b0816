import { onTestFinished } from 'vitest';
import type { ReadAttachments } from '../../control-plane/agents/agent-attachments.ts';
import type { ConfigChecks } from '../../control-plane/agents/agent-config-service.ts';
import { createAgentLookup } from '../../control-plane/agents/agent-lookup.ts';
import { agentRoutes } from '../../control-plane/agents/agent-routes.ts';
import { createAgentService } from '../../control-plane/agents/agent-service.ts';
import { createAgentStore } from '../../control-plane/agents/agent-store.ts';
import { createAgentVersionStore } from '../../control-plane/agents/agent-version-store.ts';
import { createCursorSigner } from '../../control-plane/http/cursor-signer.ts';
import type { AnyRoute, KeyCaller } from '../../control-plane/http/route.ts';
import { Failure } from '../../shared/errors.ts';
import { createSecretBox, parseKeyList } from '../../shared/secret-box.ts';
import type { ToolDefinition } from '../../shared/tool-definition.ts';
import { type ApiServer, startApiServer } from '../fakes/api-server.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { makeTestStore } from '../support/test-store.ts';

export type Json = Record<string, unknown>;

/** Callers by their key: two of one team (the second without beta access), one of another team. */
export const CALLERS: Record<string, KeyCaller> = {
  good: { kind: 'api_key', workspaceId: 'w1', userId: 'u1', keyId: 'k1', hasBetaAccess: true },
  nobeta: { kind: 'api_key', workspaceId: 'w1', userId: 'u2', keyId: 'k2', hasBetaAccess: false },
  other: { kind: 'api_key', workspaceId: 'w2', userId: 'u3', keyId: 'k3', hasBetaAccess: true },
};

export async function authenticateCaller(key: string): Promise<KeyCaller> {
  const caller = CALLERS[key];
  if (!caller) throw new Failure('invalid_token', 'Invalid token');
  return caller;
}

/** An empty store, gone with the test. */
export async function openTestStore() {
  const made = await makeTestStore();
  onTestFinished(() => made.remove());
  return made.store;
}

export const cursors = createCursorSigner({ id: 'test', bytes: Buffer.alloc(32, 7) });

/** The agents resource on an empty store. Hosts ending in `.internal` don't resolve publicly. */
export async function setUpAgents(checks: Partial<ConfigChecks> = {}, clock = new FakeClock()) {
  const store = await openTestStore();
  const agents = createAgentStore(store, cursors);
  const versions = createAgentVersionStore(store, cursors);
  await agents.ensureIndexes();
  await versions.ensureIndexes();
  const sealer = createSecretBox(parseKeyList(Buffer.alloc(32, 9).toString('base64')));
  const readAttachments: ReadAttachments = async (_workspaceId, config) => ({
    tools: [],
    knowledge: config.knowledge_base.knowledge_source_ids.map((sourceId) => ({
      sourceId,
      revisionId: `${sourceId}-1`,
      revisionNumber: 1,
    })),
  });
  const service = createAgentService({
    agents,
    versions,
    sealer,
    readAttachments,
    clock,
    checks: {
      llmModels: ['house-model'],
      urlProblem: async (url) =>
        new URL(url).hostname.endsWith('.internal') ? 'URL must resolve to a public address' : null,
      repeatedClientTool: async () => null,
      unknownTools: async (_workspaceId, ids) => ids.filter((id) => !id.startsWith('tool')),
      unknownKnowledgeSources: async (_workspaceId, ids) => ids.filter((id) => !id.startsWith('source')),
      ...checks,
    },
  });
  const openTool = (tool: ToolDefinition) => tool;
  const lookup = createAgentLookup({ agents, versions, sealer, readAttachments, openTool });
  return { store, agents, versions, service, clock, lookup };
}

/** A server of these routes, and a client that answers status, body and headers. */
export async function serve(routes: readonly AnyRoute[]) {
  const server: ApiServer = await startApiServer(routes, { authenticate: authenticateCaller });
  onTestFinished(() => server.stop());

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    options: { key?: string | null; headers?: Record<string, string> } = {},
  ) {
    const { key = 'good', headers = {} } = options;
    const reply = await fetch(`${server.baseUrl}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    const text = await reply.text();
    const parsed: unknown = text === '' ? null : JSON.parse(text);
    return { status: reply.status, body: parsed as Json, headers: reply.headers };
  }
  return { ask, server };
}

/** The agents API over HTTP. */
export async function setUpAgentApi(checks: Partial<ConfigChecks> = {}) {
  const resource = await setUpAgents(checks);
  const { ask, server } = await serve(agentRoutes(resource.service));

  async function createAgent(body: Json = {}): Promise<string> {
    const reply = await ask('POST', '/v1/agent/agents', { name: 'Desk', ...body });
    if (reply.status !== 201) throw new Error(`agent not created: ${JSON.stringify(reply.body)}`);
    return String(reply.body['agent_id']);
  }
  return { ...resource, ask, server, createAgent };
}
