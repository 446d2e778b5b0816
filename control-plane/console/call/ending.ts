/** How a call ended, for the person at the screen. */
export interface Ending {
  readonly message: string;
  /** False when something went wrong. */
  readonly isOrderly: boolean;
}

export const HUNG_UP: Ending = { message: 'You hung up.', isOrderly: true };
export const AGENT_LEFT: Ending = { message: 'The agent left the conversation.', isOrderly: true };
export const AGENT_SILENT: Ending = {
  message: 'The agent did not join. The voice worker may be out of order; try again.',
  isOrderly: false,
};

/** By the reason in the agent's last event. */
const ANNOUNCED: Readonly<Record<string, Ending>> = {
  user_hangup: { message: 'The conversation was ended.', isOrderly: true },
  agent_hangup: { message: 'The agent hung up.', isOrderly: true },
  conversation_timeout: { message: 'The longest duration of a conversation was reached.', isOrderly: true },
  escalated: { message: 'You were handed over to a person.', isOrderly: true },
};

/** By the name of the transport's reason. */
const DISCONNECTED: Readonly<Record<string, Ending>> = {
  CLIENT_INITIATED: HUNG_UP,
  DUPLICATE_IDENTITY: { message: 'This conversation was taken over in another window.', isOrderly: false },
  SERVER_SHUTDOWN: { message: 'The voice worker was stopped.', isOrderly: false },
  PARTICIPANT_REMOVED: { message: 'The conversation was ended.', isOrderly: true },
  ROOM_DELETED: { message: 'The conversation was ended.', isOrderly: true },
  ROOM_CLOSED: { message: 'The conversation was ended.', isOrderly: true },
  CONNECTION_TIMEOUT: { message: 'The connection was lost and did not come back.', isOrderly: false },
};
const LOST: Ending = { message: 'The connection was lost and did not come back.', isOrderly: false };

/** Null for a reason that is not known: the transport's own reason then counts. */
export function announcedEnding(reason: string): Ending | null {
  return ANNOUNCED[reason] ?? null;
}

export function disconnectEnding(reasonName: string | undefined): Ending {
  return (reasonName === undefined ? undefined : DISCONNECTED[reasonName]) ?? LOST;
}
