import { isIP } from 'node:net';
import type { ControlAddress } from './link-credentials.ts';

/**
 * Every control-plane replica behind the given `host:port` entries: a name stands for all of its addresses, as a
 * headless service gives them. A name that does not resolve now is left to the connection itself.
 */
export async function listControlAddresses(
  entries: readonly string[],
  resolve: (hostname: string) => Promise<readonly string[]>,
): Promise<ControlAddress[]> {
  const lists = await Promise.all(entries.map((entry) => addressesOf(entry, resolve)));
  const byTarget = new Map(lists.flat().map((address) => [address.target, address]));
  return [...byTarget.values()];
}

async function addressesOf(
  entry: string,
  resolve: (hostname: string) => Promise<readonly string[]>,
): Promise<ControlAddress[]> {
  const colon = entry.lastIndexOf(':');
  const host = entry.slice(0, colon);
  const port = entry.slice(colon + 1);
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) return [{ target: entry, serverName: null }];
  const addresses = await resolve(host).catch(() => []);
  if (addresses.length === 0) return [{ target: entry, serverName: null }];
  return addresses.map((address) => ({
    target: `${isIP(address) === 6 ? `[${address}]` : address}:${port}`,
    serverName: host,
  }));
}
