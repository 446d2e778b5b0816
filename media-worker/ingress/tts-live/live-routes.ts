import { childTrace, parseTraceparent } from '../../../shared/trace-context.ts';
import { LiveSession, type LiveSessionDeps } from '../../speech/live-session.ts';
import type { SpeechCaller } from '../../speech/speech-admission.ts';
import { ttsModel } from '../../speech/tts-models.ts';
import { bearerToken } from '../bearer-token.ts';
import type { HttpReply, RequestHead, SocketHandlers, SocketRoute } from '../socket-server.ts';
import { refusal, requestIdOf } from '../speech-http/speech-route.ts';
import { SlowSocket } from './slow-socket.ts';

const MAX_FRAME_BYTES = 1_000_000;
/** A few seconds of audio; the sender waits long before. */
const MAX_BUFFERED_BYTES = 1_000_000;
/** A client that answers no ping for so long is gone. */
const SILENCE_TIMEOUT_S = 120;

export interface LiveRoutesDeps extends LiveSessionDeps {
  /** Throws `Failure` `invalid_token` or `unavailable`. */
  readonly identify: (apiKey: string) => Promise<SpeechCaller>;
}

/** Realtime synthesis over WebSockets: text in as it is written, audio out as it is spoken. */
export function createLiveRoutes(deps: LiveRoutesDeps): {
  readonly sockets: readonly SocketRoute[];
  closeAll(): number;
} {
  const sessions = new Set<LiveSession>();

  async function accept(head: RequestHead, withTimes: boolean): Promise<SocketHandlers | HttpReply> {
    const ids = { 'x-request-id': requestIdOf(head) };
    const apiKey = bearerToken(head);
    if (apiKey === null) return { status: 401, headers: { ...ids, 'www-authenticate': 'Bearer' } };
    try {
      return open(head, await deps.identify(apiKey), withTimes);
    } catch (error) {
      const reply = refusal(error, (cause) => deps.log.error({ err: cause }, 'realtime socket refused'));
      return { ...reply, headers: { ...ids, ...reply.headers } };
    }
  }

  function open(head: RequestHead, caller: SpeechCaller, withTimes: boolean): SocketHandlers {
    let session: LiveSession | null = null;
    let socket: SlowSocket | null = null;
    return {
      onOpen: (raw) => {
        const slow = new SlowSocket(raw);
        socket = slow;
        session = new LiveSession(deps, {
          caller,
          model: ttsModel(head.header('model')),
          trace: childTrace(parseTraceparent(head.header('traceparent'))),
          withTimes,
          send: (frame) => slow.send(frame),
          hangUp: (code, reason) => raw.close(code, reason),
        });
        sessions.add(session);
      },
      onMessage: (_raw, data, isText) => session?.receive(data, isText),
      onDrain: () => socket?.drained(),
      onClose: () => {
        socket?.closed();
        session?.close();
        if (session) sessions.delete(session);
      },
    };
  }

  const route = (path: string, withTimes: boolean): SocketRoute => ({
    path,
    maxMessageBytes: MAX_FRAME_BYTES,
    maxBufferedBytes: MAX_BUFFERED_BYTES,
    idleTimeoutS: SILENCE_TIMEOUT_S,
    accept: (head) => accept(head, withTimes),
  });

  return {
    sockets: [route('/v1/tts/live', false), route('/v1/tts/live/with-timestamp', true)],
    closeAll: () => {
      const open = [...sessions];
      for (const session of open) session.goAway();
      return open.length;
    },
  };
}
