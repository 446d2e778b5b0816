import { lookup } from 'node:dns/promises';
import type { ResolveHost } from './guarded-lookup.ts';

/** The operating system's resolver, hosts file included. */
export const resolveWithSystem: ResolveHost = async (hostname) =>
  (await lookup(hostname, { all: true })).map((entry) => entry.address);
