import { Failure } from '../../shared/errors.ts';
import { type Clock, toIso } from '../../shared/time.ts';
import { type ReadAttachments, refuseOversized } from './agent-attachments.ts';
import type { PublishBody, VersionSummary } from './agent-schema.ts';
import type { AgentStore } from './agent-store.ts';
import type { AgentVersionDoc, AgentVersionStore } from './agent-version-store.ts';
import { hashWithAttachments } from './config-hash.ts';

/** Tries of one publish against others of the same agent; a loser finds the winner's version and mostly ends there. */
const MAX_PUBLISH_TRIES = 50;

/** Freezes drafts into numbered versions. */
export function createAgentPublishing(deps: {
  readonly agents: AgentStore;
  readonly versions: AgentVersionStore;
  readonly readAttachments: ReadAttachments;
  readonly clock: Clock;
}) {
  const { agents, versions, readAttachments, clock } = deps;

  /** The live version when the draft is no different, else a new one with the next number. */
  async function publish(agentId: string, workspaceId: string, body: PublishBody): Promise<VersionSummary> {
    for (let tries = 0; tries < MAX_PUBLISH_TRIES; tries++) {
      const agent = await agents.find(agentId, workspaceId);
      if (!agent) throw new Failure('not_found', 'Agent not found');
      const attachments = await readAttachments(workspaceId, agent.config);
      refuseOversized(attachments);
      const configHash = hashWithAttachments(agent.configHash, attachments);
      const live = await versions.findLive(agentId);
      const isUnchanged = live?.configHash === configHash;
      const version = isUnchanged
        ? live
        : {
            agentId,
            number: (live?.number ?? 0) + 1,
            title: body.version_title ?? null,
            description: body.version_description ?? null,
            config: agent.config,
            ...attachments,
            configHash,
            configUpdatedAtMs: agent.configUpdatedAtMs,
            publishedAtMs: clock.nowMs(),
          };
      // A version that was stored by a publish that got no further is taken for the live one here.
      if (isUnchanged && agent.live?.number === version.number) return toVersionSummary(version);
      if (!isUnchanged && !(await versions.insert(version))) continue;
      const knowledgeSourceIds = (version.knowledge ?? []).map(({ sourceId }) => sourceId);
      const marker = { number: version.number, knowledgeSourceIds };
      if (await agents.markLive(agentId, marker, clock.nowMs())) return toVersionSummary(version);
      // The agent was deleted meanwhile: its versions go with it.
      await versions.removeAll(agentId);
      throw new Failure('not_found', 'Agent not found');
    }
    throw new Failure('unavailable', 'Agent is being published by too many requests', { retryAfterS: 1 });
  }
  return { publish };
}

export function toVersionSummary(version: Omit<AgentVersionDoc, '_id'>): VersionSummary {
  return {
    version_number: version.number,
    version_title: version.title,
    version_description: version.description,
    config_hash: version.configHash,
    published_at: toIso(version.publishedAtMs),
  };
}
