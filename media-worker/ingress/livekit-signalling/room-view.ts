import { randomBytes } from 'node:crypto';
import {
  type AddTrackRequest,
  ClientConfigSetting,
  ClientConfiguration,
  Codec,
  ICEServer,
  JoinResponse,
  ParticipantInfo,
  ParticipantInfo_Kind,
  ParticipantInfo_State,
  ParticipantPermission,
  ReconnectResponse,
  Room,
  ServerInfo,
  TrackInfo,
  TrackSource,
  TrackType,
} from '@livekit/protocol';
import { AGENT_STATE_ATTRIBUTE, type AgentState } from '../../../shared/livekit-events.ts';
import type { Admission } from '../../transport/caller-connection.ts';
import type { WebRtcSettings } from '../../transport/webrtc-settings.ts';

/** How often clients ping the signalling socket, and after how much silence they give it up. In seconds. */
export const PING_INTERVAL_S = 5;
export const PING_TIMEOUT_S = 15;

/** The version of LiveKit's client protocol that is spoken here. */
const PROTOCOL_VERSION = 15;
const OPUS = new Codec({ mime: 'audio/opus' });
const SERVER = new ServerInfo({ version: '1.8.0', protocol: PROTOCOL_VERSION, nodeId: 'parley' });
/** What a client may hang on its participant: attribute names and values together, in characters. */
const MAX_ATTRIBUTES_LENGTH = 65_536;

/**
 * What a LiveKit client sees of a call: a room with two participants, the caller and the agent. Holds no
 * connection; every getter builds a message of the present state.
 */
export class RoomView {
  readonly roomSid = newSid('RM');
  readonly callerSid = newSid('PA');
  readonly agentSid = newSid('PA');
  readonly agentTrackSid = newSid('TR');
  readonly agentIdentity: string;
  readonly callerIdentity: string;
  readonly #admission: Admission;
  readonly #joinedAtMs: number;
  readonly #tracks = new Map<string, TrackInfo>();
  #agentState: AgentState = 'initializing';
  #callerAttributes: Record<string, string> = {};
  #callerMetadata = '';
  #callerName: string;
  #version = 1;

  constructor(admission: Admission, joinedAtMs: number) {
    this.#admission = admission;
    this.#joinedAtMs = joinedAtMs;
    this.callerIdentity = admission.callerIdentity;
    this.#callerName = admission.callerName;
    this.agentIdentity = `agent-${admission.sessionId}`;
  }

  /** The stream that carries the agent's voice; clients find the participant and the track by it. */
  get agentStreamId(): string {
    return `${this.agentSid}|${this.agentTrackSid}`;
  }

  /** Sid of the caller's microphone, empty before it is published. */
  get callerTrackSid(): string {
    return [...this.#tracks.values()].find((track) => track.type === TrackType.AUDIO)?.sid ?? '';
  }

  join(settings: WebRtcSettings): JoinResponse {
    return new JoinResponse({
      room: this.#room(),
      participant: this.caller(),
      otherParticipants: [this.agent()],
      serverVersion: SERVER.version,
      serverInfo: SERVER,
      iceServers: clientIceServers(settings),
      clientConfiguration: clientConfiguration(settings),
      subscriberPrimary: true,
      pingInterval: PING_INTERVAL_S,
      pingTimeout: PING_TIMEOUT_S,
      enabledPublishCodecs: [OPUS],
    });
  }

  reconnect(settings: WebRtcSettings): ReconnectResponse {
    return new ReconnectResponse({
      iceServers: clientIceServers(settings),
      clientConfiguration: clientConfiguration(settings),
      serverInfo: SERVER,
    });
  }

  caller(): ParticipantInfo {
    return new ParticipantInfo({
      sid: this.callerSid,
      identity: this.callerIdentity,
      name: this.#callerName,
      state: ParticipantInfo_State.ACTIVE,
      kind: ParticipantInfo_Kind.STANDARD,
      tracks: [...this.#tracks.values()],
      isPublisher: this.#tracks.size > 0,
      metadata: this.#callerMetadata,
      attributes: this.#callerAttributes,
      permission: new ParticipantPermission({
        canSubscribe: true,
        canPublish: true,
        canPublishData: true,
        canUpdateMetadata: true,
        canPublishSources: [TrackSource.MICROPHONE],
      }),
      ...this.#stamps(),
    });
  }

  agent(): ParticipantInfo {
    return new ParticipantInfo({
      sid: this.agentSid,
      identity: this.agentIdentity,
      name: this.#admission.agentName,
      state: ParticipantInfo_State.ACTIVE,
      kind: ParticipantInfo_Kind.AGENT,
      isPublisher: true,
      attributes: { [AGENT_STATE_ATTRIBUTE]: this.#agentState },
      permission: new ParticipantPermission({
        canPublish: true,
        canSubscribe: true,
        canPublishData: true,
        agent: true,
      }),
      tracks: [
        new TrackInfo({
          sid: this.agentTrackSid,
          name: 'agent',
          type: TrackType.AUDIO,
          source: TrackSource.MICROPHONE,
          mimeType: 'audio/opus',
          stream: 'agent',
        }),
      ],
      ...this.#stamps(),
    });
  }

  setAgentState(state: AgentState): void {
    this.#agentState = state;
    this.#version += 1;
  }

  /** Publishes a track of the caller's; asking again for the same `cid` gives the same track. */
  addCallerTrack(request: AddTrackRequest): TrackInfo {
    const known = this.#tracks.get(request.cid);
    if (known) return known;
    const track = new TrackInfo({
      sid: newSid('TR'),
      name: request.name,
      type: request.type,
      source: request.source,
      muted: request.muted,
      mimeType: 'audio/opus',
      stereo: request.stereo,
      disableDtx: request.disableDtx,
      disableRed: true,
      stream: request.stream,
      audioFeatures: request.audioFeatures,
    });
    this.#tracks.set(request.cid, track);
    this.#version += 1;
    return track;
  }

  /** False when the caller has no such track. */
  muteCallerTrack(sid: string, muted: boolean): boolean {
    const track = [...this.#tracks.values()].find((known) => known.sid === sid);
    if (!track) return false;
    track.muted = muted;
    this.#version += 1;
    return true;
  }

  /** An empty attribute value removes the attribute. False when there would be too much of it. */
  updateCaller(update: { name: string; metadata: string; attributes: Record<string, string> }): boolean {
    const merged = Object.entries({ ...this.#callerAttributes, ...update.attributes }).filter(
      ([, v]) => v !== '',
    );
    const size = merged.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    if (size + update.metadata.length + update.name.length > MAX_ATTRIBUTES_LENGTH) return false;
    this.#callerAttributes = Object.fromEntries(merged);
    if (update.metadata !== '') this.#callerMetadata = update.metadata;
    if (update.name !== '') this.#callerName = update.name;
    this.#version += 1;
    return true;
  }

  #room(): Room {
    return new Room({
      sid: this.roomSid,
      name: this.#admission.sessionId,
      creationTime: BigInt(Math.floor(this.#joinedAtMs / 1000)),
      creationTimeMs: BigInt(Math.floor(this.#joinedAtMs)),
      numParticipants: 2,
      numPublishers: 1,
      maxParticipants: 2,
      enabledCodecs: [OPUS],
    });
  }

  #stamps(): { version: number; joinedAt: bigint; joinedAtMs: bigint } {
    return {
      version: this.#version,
      joinedAt: BigInt(Math.floor(this.#joinedAtMs / 1000)),
      joinedAtMs: BigInt(Math.floor(this.#joinedAtMs)),
    };
  }
}

function clientIceServers(settings: WebRtcSettings): ICEServer[] {
  return settings.iceServers.map(
    ({ urls, username = '', credential = '' }) => new ICEServer({ urls: [...urls], username, credential }),
  );
}

function clientConfiguration(settings: WebRtcSettings): ClientConfiguration {
  return new ClientConfiguration({
    resumeConnection: ClientConfigSetting.ENABLED,
    forceRelay: settings.relayOnly ? ClientConfigSetting.ENABLED : ClientConfigSetting.UNSET,
  });
}

function newSid(prefix: 'RM' | 'PA' | 'TR'): string {
  return `${prefix}_${randomBytes(9).toString('base64url').replaceAll(/[-_]/g, 'x')}`;
}
