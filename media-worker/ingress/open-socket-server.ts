import { access, constants } from 'node:fs/promises';
import { openNodeSocketServer } from './node-socket-server.ts';
import type { SocketServer, SocketServerOptions } from './socket-server.ts';
import { loadUws } from './uws-addon.ts';
import { openUwsSocketServer } from './uws-socket-server.ts';

/** Opens the implementation the settings ask for; throws `PortTaken` when the port can't be had. */
export async function openSocketServer(options: SocketServerOptions): Promise<SocketServer> {
  const { implementation, tls } = options.settings;
  // Read once here for a clear error; uWebSockets.js reads the files itself and has none.
  for (const file of tls ? [tls.certFile, tls.keyFile] : []) await access(file, constants.R_OK);
  if (implementation === 'node') return openNodeSocketServer(options);
  const uws = await loadUws();
  if (uws) return openUwsSocketServer(uws, options);
  if (implementation === 'auto') return openNodeSocketServer(options);
  throw new Error(
    'uWebSockets.js has no binary for this Node.js or platform; set the socket server to auto or node',
  );
}
