import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Failure } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Clock } from '../../../shared/time.ts';
import type { JoinGate } from '../../transport/caller-connection.ts';
import { isUdpCandidate } from '../../transport/candidate-filter.ts';
import { hasMedia } from '../../transport/sdp.ts';
import type { WebRtcSettings } from '../../transport/webrtc-settings.ts';
import { bearerToken } from '../bearer-token.ts';
import type { IngressSettings } from '../ingress-settings.ts';
import type { HttpReply, HttpRequest, HttpRoute, RequestHead } from '../socket-server.ts';
import { fragmentCandidates, iceUserFragments } from './sdp-fragment.ts';
import { WhipConnection } from './whip-connection.ts';

export interface WhipRoutesDeps {
  readonly gate: JoinGate;
  readonly settings: IngressSettings;
  readonly clock: Clock;
  readonly log: Logger;
}

interface WhipSession {
  readonly connection: WhipConnection;
  readonly tokenHash: Buffer;
  readonly userFragments: readonly string[];
}

const MAX_SDP_BYTES = 65_536;
const SDP_TYPE = 'application/sdp';
const FRAGMENT_TYPE = 'application/trickle-ice-sdpfrag';

/** WHIP (RFC 9725): any WebRTC client calls with one POST and hangs up with one DELETE. */
export function createWhipRoutes(deps: WhipRoutesDeps): {
  readonly http: readonly HttpRoute[];
  closeAll(): number;
} {
  const { settings } = deps;
  const sessions = new Map<string, WhipSession>();

  async function call(request: HttpRequest): Promise<HttpReply> {
    const token = requireToken(request);
    const admission = await deps.gate.admit(token);
    requireType(request, SDP_TYPE);
    const offer = new TextDecoder().decode(await request.readBody());
    if (!hasMedia(offer, 'audio')) throw new Failure('unprocessable', 'The offer has no audio');
    const id = randomBytes(16).toString('hex');
    const connection = new WhipConnection({
      admission,
      webrtc: settings.webrtc,
      liveness: settings.liveness,
      clock: deps.clock,
      log: deps.log,
      onOver: () => sessions.delete(id),
    });
    const answer = await answerOrClose(connection, offer, settings.webrtc);
    if (request.signal.aborted) {
      connection.close('user_hangup');
      throw new Failure('bad_request', 'The client is gone');
    }
    sessions.set(id, { connection, tokenHash: hash(token), userFragments: iceUserFragments(offer) });
    connection.start();
    const links = iceServerLinks(settings.webrtc);
    return {
      status: 201,
      headers: {
        'content-type': SDP_TYPE,
        location: `/whip/${id}`,
        'accept-patch': FRAGMENT_TYPE,
        ...(links === '' ? {} : { link: links }),
      },
      body: answer,
    };
  }

  async function trickle(request: HttpRequest): Promise<HttpReply> {
    const session = requireSession(request);
    requireType(request, FRAGMENT_TYPE);
    const fragment = new TextDecoder().decode(await request.readBody());
    if (iceUserFragments(fragment).some((fragmentName) => !session.userFragments.includes(fragmentName))) {
      throw new Failure('unprocessable', 'ICE restarts are not supported');
    }
    for (const candidate of fragmentCandidates(fragment)) session.connection.takeCandidate(candidate);
    return { status: 204 };
  }

  async function hangUp(request: HttpRequest): Promise<HttpReply> {
    requireSession(request).connection.left();
    return { status: 200 };
  }

  function requireSession(request: HttpRequest): WhipSession {
    const session = sessions.get(request.params['id'] ?? '');
    const given = hash(requireToken(request));
    if (!session) throw new Failure('not_found', 'No such call');
    if (!timingSafeEqual(session.tokenHash, given)) throw new Failure('invalid_token', 'Invalid token');
    return session;
  }

  return {
    http: [
      { method: 'POST', path: '/whip', maxBodyBytes: MAX_SDP_BYTES, handle: call },
      { method: 'PATCH', path: '/whip/:id', maxBodyBytes: MAX_SDP_BYTES, handle: trickle },
      { method: 'DELETE', path: '/whip/:id', maxBodyBytes: 0, handle: hangUp },
      {
        method: 'OPTIONS',
        path: '/whip',
        maxBodyBytes: 0,
        handle: async () => ({ status: 204, headers: { 'accept-post': SDP_TYPE } }),
      },
    ],
    closeAll: () => {
      const open = [...sessions.values()];
      for (const { connection } of open) connection.close('worker_shutdown');
      return open.length;
    },
  };
}

async function answerOrClose(
  connection: WhipConnection,
  offer: string,
  webrtc: WebRtcSettings,
): Promise<string> {
  let answer: string;
  try {
    answer = await connection.answer(offer);
  } catch (cause) {
    connection.close('internal_error');
    throw new Failure('unprocessable', 'The offer can not be answered', { cause });
  }
  const hasUdp = answer.split('\r\n').some((line) => line.startsWith('a=candidate:') && isUdpCandidate(line));
  if (!hasUdp && !webrtc.relayOnly) {
    connection.close('internal_error');
    throw new Failure('unavailable', 'No port is free for another call', { reason: 'full', retryAfterS: 5 });
  }
  return answer;
}

function requireToken(head: RequestHead): string {
  const token = bearerToken(head);
  if (token === null) throw new Failure('invalid_token', 'Invalid token');
  return token;
}

function requireType(head: RequestHead, type: string): void {
  const given = head.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (given !== type) throw new Failure('unsupported_media_type', `The body has to be ${type}`);
}

function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** RFC 9725 4.6: servers for the client, one link each. */
function iceServerLinks(webrtc: WebRtcSettings): string {
  return webrtc.iceServers
    .flatMap(({ urls, username, credential }) =>
      urls.map((url) => {
        const login =
          username === undefined
            ? ''
            : `; username="${username}"; credential="${credential ?? ''}"; credential-type="password"`;
        return `<${url}>; rel="ice-server"${login}`;
      }),
    )
    .join(', ');
}
