import { isIP, type LookupFunction } from 'node:net';
import { OutgoingError } from './outgoing-error.ts';
import { isPublicAddress } from './public-address.ts';

/** Port: every address of a host name, in the order to try. Rejects or answers `[]` when there is none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/**
 * Every address of the host, or `OutgoingError` when there is none or one of them is not public: a name with a
 * public and a private address is an attack or a mistake.
 */
export async function resolvePublic(resolve: ResolveHost, hostname: string): Promise<readonly string[]> {
  const addresses = await resolveAny(resolve, hostname);
  if (!addresses.every(isPublicAddress)) throw new OutgoingError('forbidden_address');
  return addresses;
}

export async function resolveAny(resolve: ResolveHost, hostname: string): Promise<readonly string[]> {
  const addresses = await resolve(hostname).catch(() => []);
  if (addresses.length === 0) throw new OutgoingError('unresolvable');
  return addresses;
}

/**
 * The `lookup` of a socket: the addresses that were checked are the addresses it connects to, because one answer
 * serves both. A name that changes its answer between two requests is checked again with the new one.
 */
export function createLookup(
  resolveAddresses: (hostname: string) => Promise<readonly string[]>,
): LookupFunction {
  return (hostname, options, callback) => {
    resolveAddresses(hostname).then(
      (addresses) => {
        const family = familyNumber(options.family);
        const usable = addresses
          .map((address) => ({ address, family: isIP(address) }))
          .filter((a) => a.family !== 0 && (family === 0 || a.family === family));
        const first = usable[0];
        if (!first) return callback(new OutgoingError('unresolvable'), '', 4);
        if (options.all) callback(null, usable);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new OutgoingError('unresolvable'), '', 4),
    );
  };
}

function familyNumber(family: number | string | undefined): number {
  if (family === 'IPv4') return 4;
  if (family === 'IPv6') return 6;
  return typeof family === 'number' ? family : 0;
}
