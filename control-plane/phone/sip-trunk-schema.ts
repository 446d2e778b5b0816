import { type Static, Type } from 'typebox';

const orNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([Type.Null(), schema]);
/** What a digest username may hold; quotes and backslashes would need escaping in the header. */
const Username = Type.String({ maxLength: 128, pattern: '^[^\\u0000-\\u001f\\u007f"\\\\]*$' });
const Password = Type.String({ maxLength: 128, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });

/** Headers of the caller's own, by name. None of the protocol's headers begins with `X-`. */
export const SipHeaders = Type.Unsafe<Record<string, string>>({
  type: 'object',
  propertyNames: { type: 'string', pattern: '^[Xx]-[A-Za-z0-9-]{1,62}$' },
  additionalProperties: { type: 'string', maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f]*$' },
  maxProperties: 32,
});

export const TrunkTransport = Type.Enum(['auto', 'udp', 'tcp', 'tls']);

/** The trunk of an imported number. `""` stands for nothing; passwords can be written and never read. */
export const trunkFields = {
  inbound_auth_username: Type.Optional(orNull(Username)),
  inbound_auth_password: Type.Optional(
    orNull(Type.String({ ...Password, description: 'Write-only. Empty or left out keeps the stored one.' })),
  ),
  inbound_allowed_addresses: Type.Optional(
    Type.Array(Type.String({ maxLength: 64, description: 'An IP address or a range in CIDR notation.' }), {
      maxItems: 32,
    }),
  ),
  termination_uri: Type.Optional(
    orNull(Type.String({ maxLength: 255, description: 'Host, or host:port, that outbound calls go to.' })),
  ),
  termination_transport: Type.Optional(TrunkTransport),
  termination_auth_username: Type.Optional(orNull(Username)),
  termination_auth_password: Type.Optional(
    orNull(Type.String({ ...Password, description: 'Write-only. Empty or left out keeps the stored one.' })),
  ),
  termination_headers: Type.Optional(orNull(SipHeaders)),
};

/** The whole trunk: what is left out is taken away, passwords excepted. */
export const TrunkBody = Type.Object(trunkFields, { additionalProperties: false });
export type TrunkBody = Static<typeof TrunkBody>;
