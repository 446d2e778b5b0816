import { type Static, Type } from 'typebox';
import { Metadata, Overrides, Variables } from '../../shared/conversation-request.ts';
import { SipHeaders } from './sip-trunk-schema.ts';

const orNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Optional(Type.Union([Type.Null(), schema]));

export const CreatePhoneCallBody = Type.Object(
  {
    agent_id: Type.String({ minLength: 1 }),
    phone_number_id: Type.String({ minLength: 1 }),
    to_number: Type.String({ description: 'Whom to call, E.164.', examples: ['+14155550123'] }),
    dynamic_variables: orNull(Variables),
    overrides: orNull(Overrides),
    metadata: orNull(Metadata),
    llm_extra_body: orNull(Metadata),
    sip_headers: orNull(SipHeaders),
  },
  { additionalProperties: false },
);
export type CreatePhoneCallBody = Static<typeof CreatePhoneCallBody>;

export const PhoneCall = Type.Object({ session_id: Type.String(), status: Type.Literal('queued') });
export type PhoneCall = Static<typeof PhoneCall>;

export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x20-\\x7e]*$',
  description:
    'Within 24 hours the same key with the same body answers the same call instead of making another one.',
});
