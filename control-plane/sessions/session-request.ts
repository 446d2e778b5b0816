import type { Overrides } from '../../shared/conversation-request.ts';
import {
  type DynamicVariables,
  unknownSystemVariables,
  VARIABLE_COUNT_MAX,
} from '../../shared/dynamic-variables.ts';
import { Failure, invalidField } from '../../shared/errors.ts';
import { isTimeZone } from '../../shared/time-zone.ts';
import type { PreviewBody } from './session-schema.ts';

/** Rules a schema can't say about what was sent; throws 422. */
export function refuseInvalidRequest(body: PreviewBody): void {
  if (body.timezone && !isTimeZone(body.timezone)) {
    throw invalidField(['body', 'timezone'], 'timezone must be a valid IANA timezone');
  }
  const overrides = body.overrides ?? {};
  if (overrides.first_message !== undefined && overrides.first_message_prompt !== undefined) {
    throw invalidField(
      ['body', 'overrides', 'first_message_prompt'],
      'first_message and first_message_prompt exclude each other',
    );
  }
  for (const field of ['first_message', 'first_message_prompt', 'system_prompt'] as const) {
    const [unknown] = unknownSystemVariables(overrides[field] ?? '');
    if (unknown) throw invalidField(['body', 'overrides', field], `unknown system variable ${unknown}`);
  }
}

/** Entry of the agent's `overrides_allowed` that governs an override. */
const GOVERNED_BY = {
  first_message: 'first_message',
  first_message_prompt: 'first_message',
  system_prompt: 'system_prompt',
  voice_id: 'voice_id',
  language: 'language',
} as const satisfies Record<keyof Overrides, string>;

/** Callers without a key may choose these alone, where the agent allows them. */
const ANONYMOUS_OVERRIDES: readonly string[] = ['language', 'voice_id'];

/** Throws a 400 for what this caller may not send to this agent. */
export function refuseForbiddenFields(
  body: { readonly name?: string | null; readonly overrides?: Overrides | null },
  allowed: readonly string[],
  isAnonymous: boolean,
): void {
  if (isAnonymous && body.name != null) {
    throw new Failure('bad_request', '`name` needs an API key');
  }
  for (const field of Object.keys(body.overrides ?? {}) as (keyof Overrides)[]) {
    const isOpen = !isAnonymous || ANONYMOUS_OVERRIDES.includes(field);
    if (!isOpen || !allowed.includes(GOVERNED_BY[field])) {
      throw new Failure('bad_request', `Override \`${field}\` is not enabled for this agent`);
    }
  }
}

/** The variables that are read: the first 50. */
export function readVariables(sent: DynamicVariables | null | undefined): DynamicVariables {
  return Object.fromEntries(Object.entries(sent ?? {}).slice(0, VARIABLE_COUNT_MAX));
}
