import type { LinkCertificates, WorkerLink } from './dispatch/worker-link.ts';
import { AddressUnavailable } from './http/http-server.ts';

/** Splits `host:port`, the host of IPv6 without its brackets. */
export function hostAndPort(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) };
}

/** `http://host:port` as somebody on this machine reaches it. */
export function localUrl(scheme: 'http' | 'https', host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Opens the workers' port and answers its number. Rejects with `AddressUnavailable`. */
export async function listenForWorkers(
  link: Pick<WorkerLink, 'start'>,
  address: string,
  certificates: LinkCertificates | null,
): Promise<number> {
  try {
    return await link.start(address, certificates);
  } catch (error) {
    const isTaken = error instanceof Error && error.message.includes('EADDRINUSE');
    const cause = isTaken ? Object.assign(new Error(error.message), { code: 'EADDRINUSE' }) : error;
    throw new AddressUnavailable({ ...hostAndPort(address), setting: 'PARLEY_GRPC_ADDRESS' }, cause);
  }
}
