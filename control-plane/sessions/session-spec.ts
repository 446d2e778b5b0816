import type { AgentConfig } from '../../shared/agent-config.ts';
import type { Overrides } from '../../shared/conversation-request.ts';
import { type DynamicVariables, fillTemplate, type SystemValues } from '../../shared/dynamic-variables.ts';
import type { SessionSpec } from '../../shared/generated/parley/v1/worker_link.ts';
import { isTimeZone, localDate } from '../../shared/time-zone.ts';
import type { ToolDefinition } from '../../shared/tool-definition.ts';
import type { SessionKnowledge } from './session-agent.ts';
import type { SessionSource } from './session-store.ts';

export interface SpecInput {
  readonly sessionId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly config: AgentConfig;
  readonly tools: readonly ToolDefinition[];
  readonly knowledge: SessionKnowledge;
  readonly language: string | undefined;
  readonly overrides: Overrides;
  readonly variables: DynamicVariables;
  readonly channel: 'web_voice' | 'phone_inbound' | 'phone_outbound';
  readonly callerNumber: string | null;
  readonly dialedNumber: string | null;
  /** Null: none of the known sources names one. */
  readonly timezone: string | null;
  readonly worldContext: boolean;
  readonly toolEvents: boolean;
  readonly recordAudio: boolean | null;
  readonly endUserId: string | null;
  readonly source: SessionSource;
  readonly createdAtMs: number;
  readonly joinDeadlineMs: number;
  readonly maxDurationS: number;
  readonly reconnectWindowMs: number;
  readonly traceparent: string;
}

/** What a worker needs to hold the session: overrides applied, then placeholders filled in prompt and greeting. */
export function buildSessionSpec(input: SpecInput): SessionSpec {
  const { config, overrides } = input;
  const language = overrides.language ?? input.language ?? config.voice.speaking_language;
  const timezone = input.timezone ?? 'UTC';
  const system: SystemValues = {
    channel: input.channel,
    timezone,
    today: localDate(input.createdAtMs, timezone),
    language,
    caller_number: input.callerNumber ?? '',
    dialed_number: input.dialedNumber ?? '',
  };
  const fill = (template: string) => fillTemplate(template, input.variables, system);
  return {
    sessionId: input.sessionId,
    workspaceId: input.workspaceId,
    agentId: input.agentId,
    agentName: input.agentName,
    agentConfigJson: JSON.stringify(config),
    language,
    systemPrompt: fill(overrides.system_prompt ?? config.prompt.system_prompt),
    firstMessageMode: firstMessageMode(config, overrides),
    firstMessage: fill(overrides.first_message ?? config.prompt.first_message),
    firstMessagePrompt: fill(overrides.first_message_prompt ?? config.prompt.first_message_prompt),
    voiceId: overrides.voice_id ?? config.voice.voice_id,
    timezone,
    worldContext: input.worldContext,
    toolEvents: input.toolEvents,
    recordAudio: input.recordAudio ?? config.conversation.record_audio,
    endUserId: input.endUserId ?? '',
    source: input.source,
    createdAtMs: input.createdAtMs,
    joinDeadlineMs: input.joinDeadlineMs,
    maxDurationS: input.maxDurationS,
    reconnectWindowMs: input.reconnectWindowMs,
    traceparent: input.traceparent,
    knowledgeText: input.knowledge.inlineText,
    toolsJson: input.tools.length > 0 ? JSON.stringify(input.tools) : '',
    knowledgeChunks: [...input.knowledge.chunks],
  };
}

/** An overridden greeting is spoken or prompted even where the agent has it off: it was asked for. */
function firstMessageMode(config: AgentConfig, overrides: Overrides): string {
  if (overrides.first_message !== undefined) return 'fixed';
  if (overrides.first_message_prompt !== undefined) return 'prompt';
  return config.prompt.first_message_mode;
}

/** The request's zone, else the agent's, else the client's if it exists, else null. */
export function chooseTimezone(
  request: { readonly timezone?: string | null; readonly client_timezone?: string | null },
  config: AgentConfig,
): string | null {
  const client = request.client_timezone;
  return request.timezone || config.conversation.timezone || (client && isTimeZone(client) ? client : null);
}
