import { PortTaken, type SocketServer, type SocketServerOptions } from './socket-server.ts';
import { LISTEN_EXCLUSIVE, listeningPort, type UwsModule, type us_listen_socket } from './uws-addon.ts';
import { serveUwsHttp } from './uws-http.ts';
import { addUwsSocketRoute } from './uws-sockets.ts';

/** The socket server on uWebSockets.js. Listens exclusively: a second process on the port is an error. */
export async function openUwsSocketServer(
  uws: UwsModule,
  options: SocketServerOptions,
): Promise<SocketServer> {
  const { host, port, tls } = options.settings;
  const app = tls ? uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile }) : uws.App();
  for (const route of options.sockets) addUwsSocketRoute(app, options, route);
  app.any('/*', (res, req) => serveUwsHttp(options, res, req));
  const listening = await listen(app, host, port);
  let isOpen = true;
  return {
    implementation: 'uws',
    port: listeningPort(uws, listening),
    close: async () => {
      if (isOpen) app.close();
      isOpen = false;
    },
  };
}

/** The addon takes host, port and the exclusive option together; its typings don't know that. */
function listen(app: ReturnType<UwsModule['App']>, host: string, port: number): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    const listenOn = app.listen.bind(app) as unknown as (
      host: string,
      port: number,
      options: typeof LISTEN_EXCLUSIVE,
      done: (socket: us_listen_socket | false) => void,
    ) => void;
    listenOn(host, port, LISTEN_EXCLUSIVE, (socket) => {
      if (socket) resolve(socket);
      else reject(new PortTaken(host, port));
    });
  });
}
