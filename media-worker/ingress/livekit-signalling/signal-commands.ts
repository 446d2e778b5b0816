import {
  DisconnectReason,
  Pong,
  RequestResponse,
  RequestResponse_Reason,
  type SignalTarget,
  TrackPublishedResponse,
  TrackType,
} from '@livekit/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Static, Type } from 'typebox';
import { refusal } from './leave.ts';
import type { LiveKitConnection } from './livekit-connection.ts';
import type { SignalCommand } from './signal-socket.ts';

const Candidate = Type.Object({
  candidate: Type.String({ maxLength: 2_048 }),
  sdpMid: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()])),
  sdpMLineIndex: Type.Optional(Type.Union([Type.Integer({ minimum: 0, maximum: 255 }), Type.Null()])),
});
const isCandidate = new Ajv2020().compile<Static<typeof Candidate>>(Candidate);

/** Does what the client asks. Subscriptions and video settings have nothing to choose between here. */
export function obey(connection: LiveKitConnection, command: SignalCommand, nowMs: number): void {
  switch (command.case) {
    case 'offer':
      return connection.takeOffer(command.value);
    case 'answer':
      return connection.takeAnswer(command.value);
    case 'trickle':
      return trickle(connection, command.value.target, command.value.candidateInit);
    case 'addTrack': {
      // A video track is never answered for: it would never be sent anywhere.
      if (command.value.type !== TrackType.AUDIO) return;
      const track = connection.view.addCallerTrack(command.value);
      connection.signal({
        case: 'trackPublished',
        value: new TrackPublishedResponse({ cid: command.value.cid, track }),
      });
      return connection.sendParticipants();
    }
    case 'mute':
      if (connection.view.muteCallerTrack(command.value.sid, command.value.muted))
        connection.sendParticipants();
      return;
    case 'updateMetadata': {
      const { name, metadata, attributes, requestId } = command.value;
      const isDone = connection.view.updateCaller({ name, metadata, attributes });
      const reason = isDone ? RequestResponse_Reason.OK : RequestResponse_Reason.LIMIT_EXCEEDED;
      connection.signal({ case: 'requestResponse', value: new RequestResponse({ requestId, reason }) });
      return connection.sendParticipants();
    }
    case 'ping':
      return connection.signal({ case: 'pong', value: BigInt(Math.floor(nowMs)) });
    case 'pingReq': {
      const pong = new Pong({
        lastPingTimestamp: command.value.timestamp,
        timestamp: BigInt(Math.floor(nowMs)),
      });
      return connection.signal({ case: 'pongResp', value: pong });
    }
    case 'leave':
      return connection.left();
    default:
      return;
  }
}

/** Bytes that are no signalling message: the client speaks something else. */
export function refuseGarbage(connection: LiveKitConnection): void {
  connection.fail(refusal(DisconnectReason.STATE_MISMATCH));
}

function trickle(connection: LiveKitConnection, target: SignalTarget, json: string): void {
  let candidate: unknown;
  try {
    candidate = JSON.parse(json);
  } catch {
    return;
  }
  if (!isCandidate(candidate)) return;
  connection.takeCandidate(target, {
    candidate: candidate.candidate,
    sdpMid: candidate.sdpMid ?? null,
    sdpMLineIndex: candidate.sdpMLineIndex ?? null,
  });
}
