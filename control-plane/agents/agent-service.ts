import { Failure } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { type Clock, toIso } from '../../shared/time.ts';
import { requireBetaAccess } from '../http/beta-access.ts';
import type { Page, PageQuery } from '../http/pagination.ts';
import type { KeyCaller } from '../http/route.ts';
import type { ReadAttachments } from './agent-attachments.ts';
import { defaultAgentConfig } from './agent-config-complete.ts';
import type { AgentConfigPatch } from './agent-config-patch.ts';
import { type ConfigChecks, createAgentConfigService, toConfigDocument } from './agent-config-service.ts';
import { createAgentPublishing, toVersionSummary } from './agent-publishing.ts';
import type {
  Agent,
  ConfigDocument,
  CreateAgentBody,
  PublishBody,
  UpdateAgentBody,
  VersionDetail,
  VersionSummary,
} from './agent-schema.ts';
import type { Sealer } from './agent-secrets.ts';
import type { AgentDoc, AgentFields, AgentQuery, AgentStore } from './agent-store.ts';
import type { AgentVersionStore } from './agent-version-store.ts';

export interface AgentServiceDeps {
  readonly agents: AgentStore;
  readonly versions: AgentVersionStore;
  readonly sealer: Sealer;
  readonly checks: ConfigChecks;
  readonly readAttachments: ReadAttachments;
  readonly clock: Clock;
}

/** Agents, their drafts and their versions. Another team's agent answers like a missing one: 404. */
export function createAgentService(deps: AgentServiceDeps) {
  const { agents, versions, clock } = deps;
  const drafts = createAgentConfigService(deps);
  const publishing = createAgentPublishing(deps);

  async function create(body: CreateAgentBody, caller: KeyCaller): Promise<Agent> {
    requireBetaAccess(caller);
    const agentId = newId();
    const owner = { agentId, workspaceId: caller.workspaceId };
    const draft = await drafts.apply(owner, defaultAgentConfig(), body.config ?? {}, ['body', 'config']);
    const nowMs = clock.nowMs();
    const agent: AgentDoc = {
      _id: agentId,
      workspaceId: caller.workspaceId,
      name: body.name,
      description: body.description ?? '',
      status: 'active',
      publicationState: 'draft',
      isPublic: false,
      allowedOrigins: [],
      overridesAllowed: [],
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      ...draft,
      configRevision: 1,
      configUpdatedAtMs: nowMs,
    };
    await agents.insert(agent);
    return toAgent(agent);
  }

  async function find(agentId: string, caller: KeyCaller): Promise<AgentDoc> {
    const agent = await agents.find(agentId, caller.workspaceId);
    if (!agent) throw new Failure('not_found', 'Agent not found');
    return agent;
  }

  async function list(query: AgentQuery, page: PageQuery, caller: KeyCaller) {
    return replyPage('agents', await agents.list(caller.workspaceId, query, page), toAgent);
  }

  async function update(agentId: string, body: UpdateAgentBody, caller: KeyCaller): Promise<Agent> {
    const { public_enabled, allowed_origins, overrides_allowed, ...plain } = body;
    const fields: AgentFields = {
      ...plain,
      ...(public_enabled === undefined ? {} : { isPublic: public_enabled }),
      ...(allowed_origins === undefined ? {} : { allowedOrigins: allowed_origins }),
      ...(overrides_allowed === undefined ? {} : { overridesAllowed: [...new Set(overrides_allowed)] }),
    };
    const updated = await agents.update(agentId, caller.workspaceId, fields, clock.nowMs());
    if (!updated) throw new Failure('not_found', 'Agent not found');
    return toAgent(updated);
  }

  /** Removes the agent, its draft and its versions. Records of its sessions stay. */
  async function remove(agentId: string, caller: KeyCaller): Promise<void> {
    if (!(await agents.remove(agentId, caller.workspaceId))) {
      throw new Failure('not_found', 'Agent not found');
    }
    await versions.removeAll(agentId);
  }

  async function listVersions(agentId: string, page: PageQuery, caller: KeyCaller) {
    await find(agentId, caller);
    return replyPage('versions', await versions.list(agentId, page), toVersionSummary);
  }

  async function getVersion(agentId: string, number: string, caller: KeyCaller): Promise<VersionDetail> {
    await find(agentId, caller);
    const version = /^[1-9]\d{0,8}$/.test(number) ? await versions.find(agentId, Number(number)) : null;
    if (!version) throw new Failure('not_found', 'Agent version not found');
    return { ...toVersionSummary(version), config: toConfigDocument(version) };
  }

  return {
    create,
    list,
    update,
    remove,
    get: async (agentId: string, caller: KeyCaller): Promise<Agent> => toAgent(await find(agentId, caller)),
    getConfig: async (agentId: string, caller: KeyCaller): Promise<ConfigDocument> =>
      drafts.toDocument(await find(agentId, caller)),
    patchConfig: (agentId: string, patch: AgentConfigPatch, caller: KeyCaller): Promise<ConfigDocument> =>
      drafts.patch(agentId, caller.workspaceId, patch),
    publish: (agentId: string, body: PublishBody, caller: KeyCaller): Promise<VersionSummary> =>
      publishing.publish(agentId, caller.workspaceId, body),
    listVersions,
    getVersion,
  };
}
export type AgentService = ReturnType<typeof createAgentService>;

function toAgent(agent: AgentDoc): Agent {
  return {
    agent_id: agent._id,
    workspace_id: agent.workspaceId,
    name: agent.name,
    description: agent.description,
    status: agent.status,
    publication_state: agent.publicationState,
    public_enabled: agent.isPublic,
    allowed_origins: [...agent.allowedOrigins],
    overrides_allowed: [...agent.overridesAllowed],
    created_at: toIso(agent.createdAtMs),
    updated_at: toIso(agent.updatedAtMs),
  };
}

function replyPage<Name extends string, Doc, Row>(name: Name, page: Page<Doc>, toRow: (doc: Doc) => Row) {
  const { rows, ...rest } = page;
  return { [name]: rows.map(toRow), ...rest } as Record<Name, Row[]> & typeof rest;
}
