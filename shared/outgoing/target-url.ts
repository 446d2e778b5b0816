import ipaddr from 'ipaddr.js';
import { OutgoingError } from './outgoing-error.ts';
import { isPublicAddress } from './public-address.ts';

const MAX_URL_CHARACTERS = 4_000;
/** What a host name may consist of once it is in ASCII form; braces of an unfilled template are not among it. */
const HOST_NAME = /^[a-z0-9_]([a-z0-9._-]*[a-z0-9_.])?$/;
/** Names that mean this host or this network wherever they are asked (RFC 6761, RFC 6762, RFC 9476). */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|alt)\.?$/;

/** A URL whose syntax has been checked. */
export interface TargetUrl {
  readonly url: URL;
  /** True when the operator's list opens this host and port, whatever it resolves to. */
  readonly isOpened: boolean;
}

/** `host:port` entries in the form in which `URL` writes hosts; IPv6 in brackets. Throws on an unusable entry. */
export function readAllowedHosts(entries: readonly string[]): ReadonlySet<string> {
  return new Set(
    entries.map((entry) => {
      const text = entry.trim().toLowerCase();
      if (!/^(\[[0-9a-f:.]+\]|[^:/@?#\s]+):\d{1,5}$/.test(text) || !URL.canParse(`http://${text}`))
        throw new Error(`not a host:port entry: ${entry}`);
      const url = new URL(`http://${text}`);
      return hostAndPort(url);
    }),
  );
}

/**
 * Checks everything about a URL that can be known without resolving its host: scheme, credentials, the host's
 * characters, local names and literal addresses in every notation `URL` understands (decimal, octal, hex, short).
 */
export function readTargetUrl(text: string, allowedHosts: ReadonlySet<string>): TargetUrl {
  if (text.length > MAX_URL_CHARACTERS || !URL.canParse(text)) throw new OutgoingError('invalid_url');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutgoingError('unsupported_scheme');
  if (url.username !== '' || url.password !== '') throw new OutgoingError('has_credentials');
  if (allowedHosts.has(hostAndPort(url))) return { url, isOpened: true };
  const literal = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.isValid(literal)) {
    if (!isPublicAddress(literal)) throw new OutgoingError('forbidden_address');
  } else {
    if (!HOST_NAME.test(url.hostname) || url.hostname.includes('..')) throw new OutgoingError('invalid_url');
    if (LOCAL_NAME.test(url.hostname)) throw new OutgoingError('forbidden_address');
  }
  return { url, isOpened: false };
}

/** True when the host of the URL is an address and nothing needs to be resolved. */
export function isLiteral(url: URL): boolean {
  return ipaddr.isValid(url.hostname.replace(/^\[(.*)\]$/, '$1'));
}

function hostAndPort(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}
