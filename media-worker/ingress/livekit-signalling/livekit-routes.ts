import { Failure } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Clock } from '../../../shared/time.ts';
import type { Admission, JoinGate } from '../../transport/caller-connection.ts';
import { bearerToken } from '../bearer-token.ts';
import { textReply } from '../failure-reply.ts';
import type { IngressSettings } from '../ingress-settings.ts';
import type {
  HttpReply,
  HttpRoute,
  RequestHead,
  ServerSocket,
  SocketHandlers,
  SocketRoute,
} from '../socket-server.ts';
import { leaveAndRejoin } from './leave.ts';
import { LiveKitConnection } from './livekit-connection.ts';
import { PING_TIMEOUT_S } from './room-view.ts';
import { obey, refuseGarbage } from './signal-commands.ts';
import { parseSignal, sendSignal } from './signal-socket.ts';

export interface LiveKitRoutesDeps {
  readonly gate: JoinGate;
  readonly settings: IngressSettings;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Longest signalling message, in bytes: a session description with every candidate stays far below. */
const MAX_SIGNAL_BYTES = 262_144;
const MAX_BUFFERED_BYTES = 1_048_576;

/**
 * LiveKit's client protocol: signalling on `/rtc`, and the paths where a refused client asks why. `/rtc/v1` (one
 * peer connection) isn't served; clients take its 404 as the sign to use `/rtc`.
 */
export function createLiveKitRoutes(deps: LiveKitRoutesDeps): {
  readonly http: readonly HttpRoute[];
  readonly sockets: readonly SocketRoute[];
  /** Ends every connection and says how many there were. */
  closeAll(): number;
} {
  const connections = new Map<string, LiveKitConnection>();

  async function accept(head: RequestHead): Promise<SocketHandlers | HttpReply> {
    const decision = await admit(deps.gate, head);
    if ('status' in decision) return decision;
    const sid = head.query.get('reconnect') === '1' ? head.query.get('sid') : null;
    return sid === null ? join(decision) : resume(decision, sid);
  }

  function join(admission: Admission): SocketHandlers {
    // Made when the socket opens, not before: a client that goes in between leaves nothing behind.
    return handlersFor((socket) => {
      const connection = new LiveKitConnection({
        admission,
        webrtc: deps.settings.webrtc,
        liveness: deps.settings.liveness,
        clock: deps.clock,
        log: deps.log,
        onOver: () => connections.delete(connection.view.callerSid),
      });
      connections.set(connection.view.callerSid, connection);
      connection.start(socket);
      return connection;
    }, deps.clock);
  }

  function resume(admission: Admission, sid: string): SocketHandlers {
    return handlersFor((socket) => {
      const connection = connections.get(sid);
      // Somebody else's sid is treated like one that is gone.
      if (!connection || connection.isOver || connection.sessionId !== admission.sessionId) {
        sendSignal(socket, { case: 'leave', value: leaveAndRejoin() });
        socket.close(1000, 'nothing to resume');
        return null;
      }
      connection.resume(socket);
      return connection;
    }, deps.clock);
  }

  const validate = async (head: RequestHead): Promise<HttpReply> => {
    const decision = await admit(deps.gate, head);
    return 'status' in decision ? decision : textReply(200, 'success');
  };

  return {
    http: [
      { method: 'GET', path: '/rtc/validate', maxBodyBytes: 0, handle: validate },
      {
        method: 'GET',
        path: '/rtc/v1/validate',
        maxBodyBytes: 0,
        handle: async (head) => {
          const reply = await validate(head);
          return reply.status === 200 ? textReply(404, 'not found') : reply;
        },
      },
    ],
    sockets: [
      {
        path: '/rtc',
        maxMessageBytes: MAX_SIGNAL_BYTES,
        maxBufferedBytes: MAX_BUFFERED_BYTES,
        idleTimeoutS: PING_TIMEOUT_S,
        accept,
      },
    ],
    closeAll: () => {
      const open = [...connections.values()];
      for (const connection of open) connection.close('worker_shutdown');
      return open.length;
    },
  };
}

function handlersFor(
  begin: (socket: ServerSocket) => LiveKitConnection | null,
  clock: Clock,
): SocketHandlers {
  let connection: LiveKitConnection | null = null;
  let opened: ServerSocket | null = null;
  return {
    onOpen: (socket) => {
      opened = socket;
      connection = begin(socket);
    },
    onMessage: (_socket, data, isText) => {
      if (!connection) return;
      connection.heardSignal();
      const command = isText ? null : parseSignal(data);
      if (command) obey(connection, command, clock.nowMs());
      else refuseGarbage(connection);
    },
    onClose: () => {
      if (opened) connection?.socketClosed(opened);
    },
  };
}

/** Refusals are plain text, which is what LiveKit clients show. The 404's words tell them that the room is gone. */
async function admit(gate: JoinGate, head: RequestHead): Promise<Admission | HttpReply> {
  const token = head.query.get('access_token') ?? bearerToken(head);
  if (token === null || token === '') return textReply(401, 'no access token');
  try {
    return await gate.admit(token);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.kind === 'not_found') return textReply(404, `requested room does not exist: ${error.message}`);
    return textReply(error.status, error.message);
  }
}
