import { isIP, isIPv6 } from 'node:net';

export interface CandidateFilterOptions {
  /** As in `WebRtcSettings`. */
  readonly advertisedAddresses: readonly string[];
  readonly boundToLoopback: boolean;
  /** Addresses of this machine's interfaces. */
  readonly localAddresses: readonly string[];
}

/**
 * Decides which of the worker's own ICE candidates (RFC 8839) clients see. The addon binds every interface and
 * can't be told otherwise, so the choice is made on the candidate's text: host candidates of addresses that are
 * not advertised are left out, those behind a 1:1 NAT get their public address. Reflexive and relayed candidates
 * always pass.
 */
export function createCandidateFilter(
  options: CandidateFilterOptions,
): (candidate: string) => readonly string[] {
  const rules = options.advertisedAddresses.map((advertised) => toRule(advertised, options.localAddresses));
  return (candidate) => {
    const fields = candidate.split(' ');
    const address = fields[4];
    if (address === undefined) return [];
    if (fields[6] !== 'typ' || fields[7] !== 'host') return [candidate];
    if (rules.length === 0) {
      return !isLoopback(address) || options.boundToLoopback ? [candidate] : [];
    }
    const shown = new Set(rules.flatMap((rule) => (rule.shows(address) ? [rule.publicAddress] : [])));
    return [...shown].map((shownAddress) => fields.with(4, shownAddress).join(' '));
  };
}

/** Throws `RangeError` for the first entry that is no address or pair of addresses. */
export function checkAdvertisedAddresses(advertisedAddresses: readonly string[]): void {
  for (const advertised of advertisedAddresses) toRule(advertised, []);
}

export function isUdpCandidate(candidate: string): boolean {
  return candidate.split(' ')[2]?.toLowerCase() === 'udp';
}

export function isLoopback(address: string): boolean {
  return address === '::1' || /^127\./.test(address) || address.toLowerCase() === 'localhost';
}

interface Rule {
  readonly publicAddress: string;
  /** Whether a candidate of the local address `local` is shown under this rule's public address. */
  shows(local: string): boolean;
}

/** An address that this machine doesn't have stands in front of it: it is shown for every address behind it. */
function toRule(advertised: string, localAddresses: readonly string[]): Rule {
  const [publicAddress = '', local] = advertised.split('/').map((part) => part.trim());
  for (const address of [publicAddress, local ?? publicAddress]) {
    if (isIP(address) === 0) throw new RangeError(`Not an IP address: ${advertised}`);
  }
  if (local !== undefined && isIPv6(local) !== isIPv6(publicAddress)) {
    throw new RangeError(`Both sides need the same IP version: ${advertised}`);
  }
  if (local !== undefined) return { publicAddress, shows: (candidate) => candidate === local };
  if (localAddresses.includes(publicAddress)) {
    return { publicAddress, shows: (candidate) => candidate === publicAddress };
  }
  return {
    publicAddress,
    shows: (candidate) => !isLoopback(candidate) && isIPv6(candidate) === isIPv6(publicAddress),
  };
}
