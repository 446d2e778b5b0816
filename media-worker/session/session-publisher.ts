import type { SessionEvent } from '../../shared/generated/parley/v1/worker_link.ts';
import type { TurnLatency } from './turn-latency.ts';

/** What a session tells the control plane. Nothing here waits; delivery is the outbox's. */
export interface SessionPublisher {
  joined(protocol: string): void;
  item(itemJson: string): void;
  decisions(lines: Uint8Array): void;
  turnMetrics(latency: TurnLatency): void;
  ended(status: 'completed' | 'failed', endReason: string, startedAtMs: number, endedAtMs: number): void;
}

export type EventBody = NonNullable<SessionEvent['event']>;

/** A publisher for one session on the outbox's `publish(sessionId, event)`. */
export function createSessionPublisher(
  sessionId: string,
  publish: (sessionId: string, event: EventBody) => void,
): SessionPublisher {
  return {
    joined: (protocol) => publish(sessionId, { $case: 'joined', value: { protocol } }),
    item: (itemJson) => publish(sessionId, { $case: 'timelineItem', value: { itemJson } }),
    decisions: (lines) => publish(sessionId, { $case: 'decisionLog', value: { lines: Buffer.from(lines) } }),
    turnMetrics: (latency) =>
      publish(sessionId, {
        $case: 'turnMetrics',
        value: { turnId: latency.turn, metricsJson: JSON.stringify(latency) },
      }),
    ended: (status, endReason, startedAtMs, endedAtMs) =>
      publish(sessionId, { $case: 'ended', value: { status, endReason, startedAtMs, endedAtMs } }),
  };
}
