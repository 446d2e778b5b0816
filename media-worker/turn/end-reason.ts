import type { EndReason } from './turn-event.ts';

const KNOWN: readonly EndReason[] = [
  'user_hangup',
  'agent_hangup',
  'conversation_timeout',
  'heartbeat_timeout',
  'llm_endpoint_failure',
  'internal_error',
  'cancelled',
];

/** A value of `end_reason` as the control plane sends it; anything unknown is a failure of ours. */
export function endReasonOf(value: string): EndReason {
  return KNOWN.find((reason) => reason === value) ?? 'internal_error';
}
