import ipaddr from 'ipaddr.js';
import type { FieldIssue } from '../../shared/errors.ts';
import type { DialTrunk } from './carrier.ts';
import type { TrunkBody } from './sip-trunk-schema.ts';

/** Host name or IPv4 address, or an IPv6 address in brackets, and perhaps a port: no scheme, user, path or parameter. */
const BARE_HOST =
  /^(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(?::([1-9]\d{0,4}))?$/;
const MAX_PORT = 65_535;
const DEFAULT_SIP_PORT = 5060;

/** The trunk of an imported number, passwords sealed. */
export interface SipTrunk {
  readonly inboundUsername: string | null;
  readonly inboundPassword: string | null;
  readonly allowedAddresses: readonly string[];
  readonly terminationUri: string | null;
  readonly transport: DialTrunk['transport'];
  readonly terminationUsername: string | null;
  readonly terminationPassword: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Seals and opens texts; `context` says where a text belongs. */
export interface Sealer {
  readonly seal: (text: string, context: string) => string;
  readonly open: (sealed: string, context: string) => string;
}

type Side = 'inbound' | 'termination';
const contextOf = (numberId: string, side: Side) => `phone_number:${numberId}:${side}`;

/** The trunk that `body` describes. An empty password keeps the stored one as long as there is a user name. */
export function toTrunk(
  body: TrunkBody,
  stored: SipTrunk | null,
  numberId: string,
  sealer: Sealer,
): SipTrunk {
  const inboundUsername = body.inbound_auth_username || null;
  const terminationUsername = body.termination_auth_username || null;
  const seal = (side: Side, given: string | null | undefined, kept: string | null | undefined) =>
    given ? sealer.seal(given, contextOf(numberId, side)) : (kept ?? null);
  return {
    inboundUsername,
    inboundPassword: inboundUsername && seal('inbound', body.inbound_auth_password, stored?.inboundPassword),
    allowedAddresses: [...new Set(body.inbound_allowed_addresses ?? [])],
    terminationUri: body.termination_uri || null,
    transport: body.termination_transport ?? 'auto',
    terminationUsername,
    terminationPassword:
      terminationUsername && seal('termination', body.termination_auth_password, stored?.terminationPassword),
    headers: body.termination_headers ?? {},
  };
}

/** What a call needs of the trunk, its password in the clear; null without a host to send calls to. */
export function toDialTrunk(trunk: SipTrunk, numberId: string, sealer: Sealer): DialTrunk | null {
  if (trunk.terminationUri === null) return null;
  const password = trunk.terminationPassword;
  return {
    host: trunk.terminationUri,
    transport: trunk.transport,
    username: trunk.terminationUsername,
    password: password && sealer.open(password, contextOf(numberId, 'termination')),
  };
}

/** What a schema can't say of a trunk. `trunk` is the one that the body would make. */
export function trunkIssues(
  body: TrunkBody,
  trunk: SipTrunk,
  hostProblem: (hostAndPort: string) => string | null,
): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const refuse = (field: keyof TrunkBody, msg: string, ...path: number[]) =>
    issues.push({ type: 'value_error', loc: ['body', field, ...path], msg: `Value error, ${msg}`, ctx: {} });

  for (const [index, address] of (body.inbound_allowed_addresses ?? []).entries()) {
    const problem = addressProblem(address);
    if (problem) refuse('inbound_allowed_addresses', problem, index);
  }
  if (body.inbound_auth_password && !trunk.inboundUsername) {
    refuse('inbound_auth_username', 'a password needs a user name');
  } else if (trunk.inboundUsername && !trunk.inboundPassword) {
    refuse('inbound_auth_password', 'a user name needs a password');
  } else if (!trunk.inboundUsername && trunk.allowedAddresses.length === 0) {
    refuse('inbound_auth_username', 'inbound calls need digest credentials or allowed addresses');
  }
  if (trunk.terminationUri !== null) {
    const problem = terminationProblem(trunk.terminationUri, hostProblem);
    if (problem) refuse('termination_uri', problem);
  } else if (trunk.terminationUsername) {
    refuse('termination_uri', 'termination credentials need a termination_uri');
  }
  if (body.termination_auth_password && !trunk.terminationUsername) {
    refuse('termination_auth_username', 'a password needs a user name');
  } else if (trunk.terminationUsername && !trunk.terminationPassword) {
    refuse('termination_auth_password', 'a user name needs a password');
  }
  return issues;
}

function addressProblem(text: string): string | null {
  const [address = '', prefix, ...rest] = text.split('/');
  const isIpv4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  const isAddress = isIpv4 || (ipaddr.IPv6.isValid(address) && !address.includes('%'));
  const isPrefix =
    prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIpv4 ? 32 : 128));
  if (!isAddress || !isPrefix || rest.length > 0) return 'must be an IP address or a range in CIDR notation';
  return prefix !== undefined && Number(prefix) === 0 ? 'a range must not hold every address' : null;
}

function terminationProblem(uri: string, hostProblem: (hostAndPort: string) => string | null): string | null {
  const match = BARE_HOST.exec(uri);
  const port = Number(match?.[1] ?? DEFAULT_SIP_PORT);
  if (!match || port > MAX_PORT || uri.includes('..')) {
    return 'termination_uri must be a host, or a host and a port';
  }
  return hostProblem(match[1] === undefined ? `${uri}:${port}` : uri);
}
