import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Answers a request that asks for a protocol nobody speaks here as if it had not asked (RFC 9110 7.8). Its body, if it
 * has one, isn't read; the connection ends with the reply.
 */
export function ignoreUpgrade(listener: RequestListener): (req: IncomingMessage, socket: Duplex) => void {
  return (req, socket) => {
    socket.on('error', () => socket.destroy());
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    // The server's own sockets are what upgrades come on.
    res.assignSocket(socket as Socket);
    res.on('finish', () => {
      res.detachSocket(socket as Socket);
      socket.end();
    });
    listener(req, res as Parameters<RequestListener>[1]);
  };
}
