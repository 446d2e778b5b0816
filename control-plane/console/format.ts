import type { SessionStatus } from './api-types.ts';

const DAY_AND_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function dayAndTime(iso: string): string {
  return DAY_AND_TIME.format(new Date(iso));
}

/** 75 → "1:15", 3675 → "1:01:15". */
export function clockTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  pending: 'Waiting',
  active: 'Live',
  completed: 'Completed',
  failed: 'Failed',
  unknown: 'Unknown',
};

const END_REASONS: Readonly<Record<string, string>> = {
  user_hangup: 'The caller hung up',
  agent_hangup: 'The agent hung up',
  escalated: 'Handed over to a person',
  conversation_timeout: 'The longest duration was reached',
  heartbeat_timeout: 'The connection was lost',
  agent_join_timeout: 'The agent did not join',
  room_join_timeout: 'Nobody joined in time',
  internal_error: 'An error on the server',
  llm_endpoint_failure: 'The language model did not answer',
  cancelled: 'Cancelled before anybody joined',
  dial_failed: 'The call was not answered',
};

/** Why a session ended, in words; the reason itself when it is a new one. */
export function endReason(reason: string | null): string | null {
  return reason === null ? null : (END_REASONS[reason] ?? reason.replaceAll('_', ' '));
}

const LANGUAGE_NAMES = new Intl.DisplayNames(['en'], { type: 'language' });

export function languageName(code: string): string {
  return LANGUAGE_NAMES.of(code) ?? code;
}
