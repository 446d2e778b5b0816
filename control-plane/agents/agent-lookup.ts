import type { AgentConfig } from '../../shared/agent-config.ts';
import type { KnowledgePin } from '../../shared/knowledge-pin.ts';
import type { ToolDefinition } from '../../shared/tool-definition.ts';
import {
  type Attachments,
  attachmentsOf,
  type ReadAttachments,
  refuseOversized,
} from './agent-attachments.ts';
import { createAgentSecrets, type Sealer } from './agent-secrets.ts';
import type { AgentStore, OverrideName } from './agent-store.ts';
import type { AgentVersionStore } from './agent-version-store.ts';
import { hashWithAttachments } from './config-hash.ts';

/** What starting a session needs to know of an agent. */
export interface CallableAgent {
  readonly agentId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly isPublic: boolean;
  readonly allowedOrigins: readonly string[];
  readonly overridesAllowed: readonly OverrideName[];
}

/**
 * A configuration ready to run: the model's key and the tools' credentials are in the clear. Never logged, never sent
 * to callers. Attachments that are switched off are left out.
 */
export interface RunnableConfig {
  /** Null for the draft. */
  readonly version: number | null;
  readonly configHash: string;
  readonly config: AgentConfig;
  readonly tools: readonly ToolDefinition[];
  readonly knowledge: readonly KnowledgePin[];
  /** Where the events of its calls go, keys in stored form. A draft's go nowhere. */
  readonly webhooks: AgentConfig['webhooks']['post_call'];
}

/** Reads of agents for neighbours that start sessions. */
export function createAgentLookup(deps: {
  readonly agents: AgentStore;
  readonly versions: AgentVersionStore;
  readonly sealer: Sealer;
  readonly readAttachments: ReadAttachments;
  /** The tool with its credentials in the clear. */
  readonly openTool: (tool: ToolDefinition) => ToolDefinition;
}) {
  const { agents, versions, sealer, readAttachments, openTool } = deps;

  function running(agentId: string, config: AgentConfig, { tools, knowledge }: Attachments) {
    return {
      config: createAgentSecrets(sealer, agentId).forWorker(config),
      tools: config.tools.enabled ? tools.map(openTool) : [],
      knowledge: config.knowledge_base.enabled ? knowledge : [],
    };
  }

  /** `workspaceId` null: whoever asks has no workspace, and what they may do with the agent is checked elsewhere. */
  async function findAgent(agentId: string, workspaceId: string | null): Promise<CallableAgent | null> {
    const agent = await (workspaceId === null
      ? agents.findAnywhere(agentId)
      : agents.find(agentId, workspaceId));
    return (
      agent && {
        agentId: agent._id,
        workspaceId: agent.workspaceId,
        name: agent.name,
        isPublic: agent.isPublic,
        allowedOrigins: agent.allowedOrigins,
        overridesAllowed: agent.overridesAllowed,
      }
    );
  }

  /** The live version, or null when the agent was never published. */
  async function publishedConfig(agentId: string): Promise<RunnableConfig | null> {
    const live = await versions.findLive(agentId);
    return (
      live && {
        version: live.number,
        configHash: live.configHash,
        ...running(agentId, live.config, attachmentsOf(live)),
        webhooks: live.config.webhooks.post_call,
      }
    );
  }

  async function draftConfig(agentId: string): Promise<RunnableConfig | null> {
    const agent = await agents.findAnywhere(agentId);
    if (!agent) return null;
    const attachments = await readAttachments(agent.workspaceId, agent.config);
    refuseOversized(attachments);
    return {
      version: null,
      configHash: hashWithAttachments(agent.configHash, attachments),
      ...running(agentId, agent.config, attachments),
      webhooks: [],
    };
  }

  /** What a call was started with, the model's key in the clear; null when the agent is gone. */
  async function pinnedConfig(agentId: string, version: number): Promise<AgentConfig | null> {
    const pinned = await versions.find(agentId, version);
    return pinned && createAgentSecrets(sealer, agentId).forWorker(pinned.config);
  }

  /** A webhook's signing key in the clear. Throws when no key opens it. */
  function openWebhookSecret(agentId: string, stored: string): string {
    return createAgentSecrets(sealer, agentId).reveal(stored, 'webhook');
  }
  return { findAgent, publishedConfig, draftConfig, pinnedConfig, openWebhookSecret };
}
