import { invalidField } from '../../shared/errors.ts';
import { parseInstant } from './instant.ts';
import type { SessionListQuery } from './session-schema.ts';
import type { SessionStatus } from './session-state.ts';
import type { SessionQuery } from './session-store.ts';

const STATUSES: readonly SessionStatus[] = ['pending', 'active', 'completed', 'failed', 'unknown'];

/** The filters of a session list. Throws 422 for a status or an instant that isn't one. */
export function readSessionQuery(query: SessionListQuery): SessionQuery {
  return {
    ...(query.agent_id === undefined ? {} : { agentId: query.agent_id }),
    ...(query.status === undefined || query.status === '' ? {} : { statuses: readStatuses(query.status) }),
    ...(query.direction === undefined ? {} : { direction: query.direction }),
    ...(query.caller_number === undefined ? {} : { callerNumber: readNumber(query.caller_number) }),
    ...(query.created_after === undefined
      ? {}
      : { createdFromMs: readInstant('created_after', query.created_after) }),
    ...(query.created_before === undefined
      ? {}
      : { createdBeforeMs: readInstant('created_before', query.created_before) }),
  };
}

function readStatuses(text: string): SessionStatus[] {
  return text.split(',').map((part) => {
    const status = STATUSES.find((known) => known === part.trim());
    if (!status) throw invalidField(['query', 'status'], `status must be among ${STATUSES.join(', ')}`);
    return status;
  });
}

/** E.164; the plus may be missing, or a blank where a query string has eaten it. */
function readNumber(text: string): string {
  return `+${text.trim().replace(/^\+/, '')}`;
}

function readInstant(name: string, text: string): number {
  const atMs = parseInstant(text);
  if (atMs === null) throw invalidField(['query', name], `${name} must be an ISO 8601 instant`);
  return atMs;
}
