import type { SessionDoc } from '../../control-plane/sessions/session-store.ts';
import { newSessionId } from '../../shared/ids.ts';

/** The record of an ended web session, changed as given; its id is of `createdAtMs`. */
export function sessionDoc(
  given: Partial<SessionDoc> & { workspaceId: string; agentId: string },
): SessionDoc {
  const createdAtMs = given.createdAtMs ?? Date.now();
  return {
    _id: newSessionId(createdAtMs),
    agentName: 'Desk',
    agentVersion: 1,
    configHash: 'sha256:0',
    name: null,
    status: 'completed',
    endReason: 'user_hangup',
    source: 'api_key',
    direction: 'inbound',
    callerNumber: null,
    dialedNumber: null,
    dialStatus: null,
    timezone: null,
    createdAtMs,
    joinDeadlineMs: createdAtMs + 300_000,
    startedAtMs: createdAtMs,
    endedAtMs: createdAtMs + 1_000,
    durationS: 1,
    endUserId: null,
    metadataJson: '{}',
    isBilled: true,
    workerId: null,
    unknownSinceMs: null,
    moneyDue: null,
    logBytes: 0,
    ...given,
  };
}
