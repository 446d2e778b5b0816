import ipaddr from 'ipaddr.js';

/** Reachable only inside a provider's network although the range is a public one. */
const PROVIDER_INTERNAL = ['168.63.129.16/32'].map((cidr) => ipaddr.IPv4.parseCIDR(cidr));
/** The one block that IANA has given out as global unicast (RFC 4291, section 2.4). */
const IPV6_GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for an address of the public internet. False for everything with another meaning: private, loopback,
 * link-local, metadata, multicast, unspecified, documentation, and every IPv6 form that carries an IPv4 address
 * (mapped, compatible, NAT64, 6to4, Teredo, ISATAP), since what it reaches is decided elsewhere. Text that is
 * no address is not public.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv4) return !PROVIDER_INTERNAL.some((block) => address.match(block));
  return address.match(IPV6_GLOBAL_UNICAST) && !isIsatap(address);
}

/** Interface identifiers `0000:5efe` and `0200:5efe` before an IPv4 address (RFC 5214, section 6.1). */
function isIsatap(address: ipaddr.IPv6): boolean {
  return ((address.parts[4] ?? 0) & 0xfdff) === 0 && address.parts[5] === 0x5efe;
}
