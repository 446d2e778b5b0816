import type { AgentConfig } from '../../shared/agent-config.ts';
import { Failure, type FieldIssue } from '../../shared/errors.ts';
import { type Clock, toIso } from '../../shared/time.ts';
import type { ReadAttachments } from './agent-attachments.ts';
import { completeAgentConfig, refuseConfig } from './agent-config-complete.ts';
import { mergeAgentConfig } from './agent-config-merge.ts';
import type { AgentConfigPatch } from './agent-config-patch.ts';
import { configIssues, issue, patchedUrls, patchIssues } from './agent-config-rules.ts';
import type { ConfigDocument } from './agent-schema.ts';
import { createAgentSecrets, type Sealer, withoutSecrets } from './agent-secrets.ts';
import type { AgentDoc, AgentStore } from './agent-store.ts';
import { configHash, hashWithAttachments } from './config-hash.ts';

/** What a configuration refers to outside itself. */
export interface ConfigChecks {
  /** The model names of the settings, besides `default`. */
  readonly llmModels: readonly string[];
  /** Why a URL must not be called, or null. Resolves names. */
  readonly urlProblem: (url: string, rules: { readonly isHttpsOnly: boolean }) => Promise<string | null>;
  /** Those of `ids` that aren't tools of the workspace. */
  readonly unknownTools: (workspaceId: string, ids: readonly string[]) => Promise<readonly string[]>;
  /** A name that two client tools among `ids` share, or null. */
  readonly repeatedClientTool: (workspaceId: string, ids: readonly string[]) => Promise<string | null>;
  /** Those of `ids` that aren't knowledge sources of the workspace. */
  readonly unknownKnowledgeSources: (
    workspaceId: string,
    ids: readonly string[],
  ) => Promise<readonly string[]>;
}

/** Tries of one patch against others that change the same draft at the same time; each round one of them gets through. */
const MAX_PATCH_TRIES = 200;

/** Makes, checks and stores drafts. */
export function createAgentConfigService(deps: {
  readonly agents: AgentStore;
  readonly sealer: Sealer;
  readonly checks: ConfigChecks;
  readonly readAttachments: ReadAttachments;
  readonly clock: Clock;
}) {
  const { agents, sealer, checks, readAttachments, clock } = deps;

  /** `stored` with `patch` applied and everything checked; 422 otherwise. `loc` is where the patch lies in the request. */
  async function apply(
    owner: { readonly agentId: string; readonly workspaceId: string },
    stored: AgentConfig,
    patch: AgentConfigPatch,
    loc: readonly string[],
  ): Promise<{ config: AgentConfig; configHash: string }> {
    const merged = mergeAgentConfig(stored, patch, createAgentSecrets(sealer, owner.agentId));
    const config = completeAgentConfig(merged, loc);
    const issues = [...patchIssues(patch), ...configIssues(config, checks.llmModels)];
    if (issues.length === 0) issues.push(...(await outsideIssues(owner.workspaceId, config, patch)));
    if (issues.length > 0) throw refuseConfig(issues, loc);
    if (
      patch.tools?.tool_ids &&
      (await checks.repeatedClientTool(owner.workspaceId, config.tools.tool_ids))
    ) {
      throw new Failure('bad_request', 'Client tools of an agent must have different names');
    }
    return { config, configHash: configHash(config) };
  }

  async function outsideIssues(
    workspaceId: string,
    config: AgentConfig,
    patch: AgentConfigPatch,
  ): Promise<FieldIssue[]> {
    const [urls, tools, sources] = await Promise.all([
      Promise.all(
        patchedUrls(config, patch).map(async ({ loc, url, isHttpsOnly }) => {
          const problem = await checks.urlProblem(url, { isHttpsOnly });
          return problem === null ? [] : [issue(loc, problem)];
        }),
      ),
      patch.tools?.tool_ids ? checks.unknownTools(workspaceId, config.tools.tool_ids) : [],
      patch.knowledge_base?.knowledge_source_ids
        ? checks.unknownKnowledgeSources(workspaceId, config.knowledge_base.knowledge_source_ids)
        : [],
    ]);
    return [
      ...urls.flat(),
      ...(tools.length > 0 ? [issue(['tools', 'tool_ids'], 'tool not found in this workspace')] : []),
      ...(sources.length > 0
        ? [issue(['knowledge_base', 'knowledge_source_ids'], 'knowledge source not found in this workspace')]
        : []),
    ];
  }

  /** Parallel patches lose none: each is applied to the draft that the others left. */
  async function patch(
    agentId: string,
    workspaceId: string,
    given: AgentConfigPatch,
  ): Promise<ConfigDocument> {
    for (let tries = 0; tries < MAX_PATCH_TRIES; tries++) {
      const agent = await agents.find(agentId, workspaceId);
      if (!agent) throw new Failure('not_found', 'Agent not found');
      const draft = await apply({ agentId, workspaceId }, agent.config, given, ['body']);
      if (draft.configHash === agent.configHash) return toDocument(agent);
      const updated = await agents.updateConfig(agentId, agent.configRevision, draft, clock.nowMs());
      if (updated) return toDocument(updated);
    }
    throw new Failure('unavailable', 'Agent is being changed by too many requests', { retryAfterS: 1 });
  }

  /** The draft as callers read it; its hash follows what is attached to it. */
  async function toDocument(agent: AgentDoc): Promise<ConfigDocument> {
    const attachments = await readAttachments(agent.workspaceId, agent.config);
    const hash = hashWithAttachments(agent.configHash, attachments);
    return toConfigDocument({ ...agent, configHash: hash });
  }
  return { apply, patch, toDocument };
}

/** What callers read of a draft or a frozen version. */
export function toConfigDocument(
  source: Pick<AgentDoc, 'config' | 'configHash' | 'configUpdatedAtMs'> &
    ({ readonly _id: string } | { readonly agentId: string }),
): ConfigDocument {
  return {
    agent_id: 'agentId' in source ? source.agentId : source._id,
    config_hash: source.configHash,
    ...withoutSecrets(source.config),
    updated_at: toIso(source.configUpdatedAtMs),
  };
}
