import { DisconnectReason, LeaveRequest, LeaveRequest_Action } from '@livekit/protocol';
import type { CloseReason } from '../../transport/caller-connection.ts';

const REASONS: Record<CloseReason, DisconnectReason> = {
  agent_hangup: DisconnectReason.ROOM_DELETED,
  user_hangup: DisconnectReason.ROOM_DELETED,
  conversation_timeout: DisconnectReason.ROOM_DELETED,
  replaced: DisconnectReason.DUPLICATE_IDENTITY,
  worker_shutdown: DisconnectReason.SERVER_SHUTDOWN,
  internal_error: DisconnectReason.UNKNOWN_REASON,
};

/** Tells the client that the call is over for it and why; it doesn't try again by itself. */
export function leaveFor(reason: CloseReason): LeaveRequest {
  return refusal(REASONS[reason]);
}

export function refusal(reason: DisconnectReason): LeaveRequest {
  return new LeaveRequest({ reason, action: LeaveRequest_Action.DISCONNECT });
}

/** Asks the client to join anew: what it wants to resume isn't there any more. */
export function leaveAndRejoin(): LeaveRequest {
  return new LeaveRequest({
    canReconnect: true,
    reason: DisconnectReason.STATE_MISMATCH,
    action: LeaveRequest_Action.RECONNECT,
  });
}
