import type { SessionSpec } from '../../shared/generated/parley/v1/worker_link.ts';

/** What a worker needs to hold a session, with 60 s left to join it. */
export function sessionSpec(sessionId: string, overrides: Partial<SessionSpec> = {}): SessionSpec {
  return {
    sessionId,
    workspaceId: 'workspace',
    agentId: 'agent',
    agentName: 'Agent',
    agentConfigJson: '{}',
    language: 'en',
    systemPrompt: '',
    firstMessageMode: 'off',
    firstMessage: '',
    firstMessagePrompt: '',
    voiceId: '',
    timezone: 'UTC',
    worldContext: false,
    toolEvents: false,
    recordAudio: false,
    endUserId: '',
    source: 'api_key',
    createdAtMs: Date.now(),
    joinDeadlineMs: Date.now() + 60_000,
    maxDurationS: 600,
    reconnectWindowMs: 15_000,
    traceparent: '',
    knowledgeText: '',
    toolsJson: '',
    knowledgeChunks: [],
    ...overrides,
  };
}
