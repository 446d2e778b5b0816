import { type Static, Type } from 'typebox';
import { SYSTEM_PROMPT_MAX } from './agent-config.ts';
import { type DynamicVariables, VARIABLE_NAME_PATTERN, VARIABLE_TEXT_MAX } from './dynamic-variables.ts';
import { Language } from './language.ts';

/** What a request for a conversation, by web or by phone, may replace of the agent's configuration. */
export const Overrides = Type.Object(
  {
    first_message: Type.Optional(Type.String({ maxLength: 10_000 })),
    first_message_prompt: Type.Optional(Type.String({ maxLength: 10_000 })),
    system_prompt: Type.Optional(Type.String({ maxLength: SYSTEM_PROMPT_MAX })),
    voice_id: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    language: Type.Optional(Language),
  },
  { title: 'SessionOverrides', additionalProperties: false },
);
export type Overrides = Static<typeof Overrides>;

/** Values for placeholders. The first 50 entries are read. */
export const Variables = Type.Unsafe<DynamicVariables>({
  type: 'object',
  propertyNames: { type: 'string', pattern: VARIABLE_NAME_PATTERN },
  additionalProperties: {
    anyOf: [{ type: 'string', maxLength: VARIABLE_TEXT_MAX }, { type: 'number' }, { type: 'boolean' }],
  },
});

/** Values are whatever JSON holds; echoed as sent. */
export const Metadata = Type.Record(Type.String(), Type.Unknown());
export type Metadata = Static<typeof Metadata>;
