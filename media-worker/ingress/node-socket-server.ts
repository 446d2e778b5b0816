import { readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { serveNodeHttp } from './node-http.ts';
import { createNodeUpgrade } from './node-sockets.ts';
import { MAX_HEADER_BYTES, PortTaken, type SocketServer, type SocketServerOptions } from './socket-server.ts';

/** The socket server on `node:http` and `ws`: everywhere Node.js runs, at a third of the HTTP rate. */
export async function openNodeSocketServer(options: SocketServerOptions): Promise<SocketServer> {
  const { host, port, tls } = options.settings;
  const limits: ServerOptions = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 10_000,
    requestTimeout: 0,
    keepAliveTimeout: 10_000,
  };
  const server = tls
    ? createTlsServer({ ...limits, cert: await readFile(tls.certFile), key: await readFile(tls.keyFile) })
    : createServer(limits);
  server.on('request', (req, res) => serveNodeHttp(options, req, res));
  const upgrade = createNodeUpgrade(options);
  server.on('upgrade', upgrade.handle);
  await listen(server, host, port);
  let closed: Promise<void> | null = null;
  return {
    implementation: 'node',
    port: (server.address() as AddressInfo).port,
    close: () => {
      closed ??= new Promise((resolve) => {
        server.close(() => resolve());
        upgrade.terminateAll();
        server.closeAllConnections();
      });
      return closed;
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException) => {
      const isTaken =
        cause.code === 'EADDRINUSE' || cause.code === 'EACCES' || cause.code === 'EADDRNOTAVAIL';
      reject(isTaken ? new PortTaken(host, port) : cause);
    };
    server.once('error', refuse);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', refuse);
      resolve();
    });
  });
}
