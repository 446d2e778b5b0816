import { type Static, type TSchema, Type } from 'typebox';

const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Timestamp = Type.String({ format: 'date-time' });

export const WalletPath = Type.Object({ user_id: Type.String({ default: 'self' }) });

export const ApiCreditQuery = Type.Object({
  check_free_credit: Type.Optional(Type.Boolean({ default: false })),
  team_id: Type.Optional(
    Type.String({ description: 'A workspace of the caller: the answer is the credit that pays for it.' }),
  ),
});
export type ApiCreditQuery = Static<typeof ApiCreditQuery>;

/** The plan's balance. Shown, never charged here. */
export const WalletPackage = Type.Object(
  {
    _id: Type.String(),
    user_id: Type.String(),
    type: Type.String(),
    total: Type.Integer(),
    balance: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: Timestamp,
    processor_subscription_id: orNull(Type.String()),
    processor_price_id: orNull(Type.String()),
    billing_period: orNull(Type.String()),
    current_period_end: orNull(Timestamp),
    cancel_at_period_end: orNull(Type.Boolean()),
    cancel_at: orNull(Timestamp),
    scheduled_change: orNull(Type.Object({}, { additionalProperties: true })),
    last_synced_at: orNull(Timestamp),
    subscription_currency: orNull(Type.String()),
    subscription_status: orNull(Type.String()),
    extra_balance: orNull(Type.Integer()),
    has_used_trial: Type.Boolean(),
  },
  { title: 'WalletPackage' },
);
export type WalletPackage = Static<typeof WalletPackage>;

export const ApiCredit = Type.Object(
  {
    _id: Type.String(),
    user_id: Type.String(),
    credit: Type.String({ description: 'Decimal number.' }),
    cumulative_top_up: Type.String({ description: 'Decimal number.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    has_phone_sha256: Type.Boolean(),
    has_free_credit: orNull(Type.Boolean()),
  },
  { title: 'ApiCredit' },
);
export type ApiCredit = Static<typeof ApiCredit>;
