import { Ajv2020 } from 'ajv/dist/2020.js';
import { AgentConfig } from '../../shared/agent-config.ts';
import { Failure } from '../../shared/errors.ts';
import type { SessionSpec } from '../../shared/generated/parley/v1/worker_link.ts';
import type { TurnSettings } from '../turn/turn-state.ts';

const checkConfig = new Ajv2020({ useDefaults: true }).compile<AgentConfig>(AgentConfig);

/** The frozen configuration of the session's agent. Throws `Failure('unprocessable')` when it isn't one. */
export function readAgentConfig(spec: SessionSpec): AgentConfig {
  const config: unknown = JSON.parse(spec.agentConfigJson);
  if (!checkConfig(config)) throw new Failure('unprocessable', 'Agent configuration can not be read');
  return config;
}

export function turnSettings(spec: SessionSpec, config: AgentConfig): TurnSettings {
  const { conversation } = config;
  return {
    language: spec.language,
    hasGreeting: spec.firstMessageMode !== 'off',
    responseWaitMs: conversation.response_wait_ms,
    responseMaxWaitMs: conversation.response_max_wait_ms,
    eagerness: conversation.eagerness,
    isInterruptible: conversation.interruptible,
    interruptionSensitivity: conversation.interruption_sensitivity,
    ignorePhrases: conversation.interruption_ignore_phrases,
    hangupAfterMs: conversation.hangup_after_seconds * 1_000,
    maxDurationMs: spec.maxDurationS * 1_000,
    reconnectWindowMs: spec.reconnectWindowMs,
  };
}
