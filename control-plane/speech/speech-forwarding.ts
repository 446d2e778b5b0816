import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../shared/log.ts';
import type { WorkerStatus } from '../coordination/coordination.ts';
import { RequestForwarder } from './request-forwarder.ts';
import { SocketForwarder } from './socket-forwarder.ts';
import { rankWorkers } from './worker-choice.ts';

/** Workers tried before the client is told that there is none. */
const MAX_WORKERS_TRIED = 3;

export interface SpeechForwardingDeps {
  /** The workers that are linked now. */
  readonly workers: () => readonly WorkerStatus[];
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Hands the speech API's requests and sockets on to media workers, byte by byte, in both directions at once, so that
 * one address serves everything. Nothing is read on the way: the worker checks the key and answers for itself.
 */
export function createSpeechForwarding(deps: SpeechForwardingDeps) {
  const requests = new RequestForwarder(deps.log);
  const sockets = new SocketForwarder(deps.log);
  const ranked = () => rankWorkers(deps.workers(), deps.random).slice(0, MAX_WORKERS_TRIED);

  /** Everything that isn't speech goes to `next`. */
  function before(next: RequestListener): RequestListener {
    return (req: IncomingMessage, res: ServerResponse & { req: IncomingMessage }) => {
      if (isSpeechPath(req.url)) requests.forward(req, res, ranked());
      else next(req, res);
    };
  }

  /** For the server's `upgrade` event; upgrades to anything but speech go to `next` as plain requests. */
  function upgradeBefore(next: (req: IncomingMessage, socket: Duplex) => void) {
    return (req: IncomingMessage, socket: Duplex, firstBytes: Buffer): void => {
      const isWebSocket = req.headers.upgrade?.toLowerCase() === 'websocket';
      if (isWebSocket && isSpeechPath(req.url)) sockets.forward(req, socket, firstBytes, ranked());
      else next(req, socket);
    };
  }

  return {
    before,
    upgradeBefore,
    /** A server that stops waits for every socket, and these may stay for hours. */
    cutSockets: () => sockets.stop(),
    /** Closes the connections to workers; for when no request runs any more. */
    close: () => requests.stop(),
  };
}

function isSpeechPath(target: string | undefined): boolean {
  const path = target?.split('?')[0] ?? '';
  return path === '/v1/tts' || path.startsWith('/v1/tts/') || path === '/v1/asr';
}
