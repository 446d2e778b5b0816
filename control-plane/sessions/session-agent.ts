import type { AgentConfig } from '../../shared/agent-config.ts';
import type { KnowledgePin } from '../../shared/knowledge-pin.ts';
import type { ToolDefinition } from '../../shared/tool-definition.ts';
import type { SessionWebhook } from './session-notices.ts';

/** What a session needs to know of its agent. */
export interface SessionAgent {
  readonly agentId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly isPublic: boolean;
  readonly allowedOrigins: readonly string[];
  readonly overridesAllowed: readonly string[];
}

/** The configuration a session runs, the model's key and the tools' credentials in the clear. */
export interface SessionConfig {
  /** Null for a draft. */
  readonly version: number | null;
  readonly configHash: string;
  readonly config: AgentConfig;
  /** Empty while the agent's tools are switched off. */
  readonly tools: readonly ToolDefinition[];
  /** Empty while the agent's knowledge is switched off. */
  readonly knowledge: readonly KnowledgePin[];
  /** Where events go, keys in stored form. Left out: nowhere. */
  readonly webhooks?: readonly SessionWebhook[];
}

/** What a session knows; one of the two is empty. */
export interface SessionKnowledge {
  readonly inlineText: string;
  readonly chunks: readonly { readonly id: string; readonly sourceName: string; readonly text: string }[];
}
