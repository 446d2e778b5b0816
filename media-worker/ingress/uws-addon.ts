import type * as Uws from 'uWebSockets.js';

export type UwsModule = typeof Uws;
export type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket, WebSocket } from 'uWebSockets.js';

/** The addon, or null where no binary fits this Node.js or platform. */
export async function loadUws(): Promise<UwsModule | null> {
  try {
    return await import('uWebSockets.js');
  } catch {
    return null;
  }
}

/** Without it two processes share one port unnoticed. The typed enum doesn't exist at run time. */
export const LISTEN_EXCLUSIVE = 1 as unknown as Uws.ListenOptions;

/** The listening socket's port; the typings ask for another kind of socket than the addon does. */
export function listeningPort(uws: UwsModule, socket: Uws.us_listen_socket): number {
  return uws.us_socket_local_port(socket as unknown as Uws.us_socket);
}
