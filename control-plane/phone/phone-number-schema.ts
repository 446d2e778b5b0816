import { type Static, Type } from 'typebox';
import { pageQueryFields, pageReplyFields } from '../http/pagination.ts';
import { SipHeaders, TrunkTransport, trunkFields } from './sip-trunk-schema.ts';

const NullableText = Type.Union([Type.Null(), Type.String()]);
const Timestamp = Type.String({ format: 'date-time' });
const E164 = Type.String({ pattern: '^\\+[1-9]\\d{6,14}$', examples: ['+14155550100'] });
const Label = Type.String({ maxLength: 120 });
const AgentId = Type.Union([Type.Null(), Type.String({ minLength: 1, maxLength: 64 })]);

export const PhoneNumberPath = Type.Object({ phone_number_id: Type.String() });

export const AvailableNumbersQuery = Type.Object({
  country_code: Type.Optional(Type.Enum(['US', 'CA'], { default: 'US' })),
  area_code: Type.Optional(Type.String({ pattern: '^[2-9]\\d{2}$' })),
  number_type: Type.Optional(Type.Enum(['local', 'toll_free'], { default: 'local' })),
  provider: Type.Optional(Type.Enum(['twilio'], { default: 'twilio' })),
});
export type AvailableNumbersQuery = Static<typeof AvailableNumbersQuery>;

export const AvailableNumbers = Type.Object({
  available_phone_numbers: Type.Array(
    Type.Object({
      phone_number: Type.String(),
      friendly_name: Type.String(),
      locality: Type.String(),
      region: Type.String(),
      country_code: Type.String(),
    }),
  ),
});
export type AvailableNumbers = Static<typeof AvailableNumbers>;

export const PhoneNumberListQuery = Type.Object({
  phone_number: Type.Optional(Type.String({ description: 'Exact, E.164.' })),
  agent_id: Type.Optional(Type.String()),
  ...pageQueryFields,
});
export type PhoneNumberListQuery = Static<typeof PhoneNumberListQuery>;

export const PhoneNumber = Type.Object({
  phone_number_id: Type.String(),
  workspace_id: Type.String(),
  phone_number: Type.String(),
  provider: Type.Enum(['twilio', 'sip']),
  label: Type.String(),
  agent_id: NullableText,
  status: Type.Enum(['provisioning', 'active', 'error', 'released']),
  status_detail: Type.String(),
  supports_outbound: Type.Boolean(),
  inbound_auth_username: NullableText,
  has_inbound_auth_password: Type.Boolean(),
  inbound_allowed_addresses: Type.Array(Type.String()),
  termination_uri: NullableText,
  termination_transport: Type.Union([Type.Null(), TrunkTransport]),
  termination_auth_username: NullableText,
  has_termination_auth_password: Type.Boolean(),
  termination_headers: SipHeaders,
  cold_transfer_use_original_caller: Type.Boolean(),
  cold_transfer_use_original_caller_effective: Type.Boolean(),
  caller_id_sync_status: Type.Enum(['synced', 'pending', 'error', 'carrier_managed']),
  caller_id_sync_error: NullableText,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type PhoneNumber = Static<typeof PhoneNumber>;

export const PhoneNumberList = Type.Object({ phone_numbers: Type.Array(PhoneNumber), ...pageReplyFields });
export type PhoneNumberList = Static<typeof PhoneNumberList>;

const newNumberFields = {
  phone_number: E164,
  label: Type.Optional(Label),
  agent_id: Type.Optional(AgentId),
};

/** Rents a number found by the search. */
const PurchaseBody = Type.Object(
  { provider: Type.Optional(Type.Literal('twilio')), ...newNumberFields },
  { additionalProperties: false, title: 'PurchasePhoneNumber' },
);

/** Brings a number of one's own along, on one's own SIP trunk. */
const ImportBody = Type.Object(
  { provider: Type.Literal('sip'), ...newNumberFields, ...trunkFields },
  { additionalProperties: false, title: 'ImportPhoneNumber' },
);
export type ImportBody = Static<typeof ImportBody>;

export const CreatePhoneNumberBody = Type.Union([PurchaseBody, ImportBody]);
export type CreatePhoneNumberBody = Static<typeof CreatePhoneNumberBody>;

export const UpdatePhoneNumberBody = Type.Object(
  {
    label: Type.Optional(Label),
    /** Null unbinds: the number rings busy. */
    agent_id: Type.Optional(AgentId),
    cold_transfer_use_original_caller: Type.Optional(Type.Boolean()),
    /** Accepted; the carrier manages the caller id. */
    retry_caller_id_sync: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
export type UpdatePhoneNumberBody = Static<typeof UpdatePhoneNumberBody>;
