import wrtc from '@roamhq/wrtc';

/**
 * The part of the WebRTC addon that is used here. Its own typings lean on the DOM's and are partly wrong. It lives
 * on the main thread only, and a process that used audio must end with `process.exit`.
 */
export interface IceServer {
  readonly urls: readonly string[];
  readonly username?: string;
  readonly credential?: string;
}

export interface CandidateInit {
  readonly candidate: string;
  readonly sdpMid: string | null;
  readonly sdpMLineIndex: number | null;
}

export interface Description {
  readonly type: 'offer' | 'answer';
  readonly sdp: string;
}

export interface Track {
  readonly id: string;
  readonly kind: 'audio' | 'video';
  stop(): void;
}

export interface DataChannel {
  readonly label: string;
  readonly readyState: 'connecting' | 'open' | 'closing' | 'closed';
  readonly bufferedAmount: number;
  binaryType: string;
  onopen: (() => void) | null;
  onclose: (() => void) | null;
  onmessage: ((event: { data: string | ArrayBuffer }) => void) | null;
  send(data: string | Uint8Array): void;
  close(): void;
}

export interface DataChannelInit {
  readonly ordered?: boolean;
  readonly maxRetransmits?: number;
}

interface Transceiver {
  direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
  readonly receiver: { readonly track: Track };
}

export type PeerState = 'new' | 'connecting' | 'connected' | 'disconnected' | 'failed' | 'closed';

/** One entry of the statistics; which fields it has depends on its `type`. */
export interface StatsEntry {
  readonly id: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface PeerConnection {
  readonly connectionState: PeerState;
  readonly iceGatheringState: 'new' | 'gathering' | 'complete';
  readonly localDescription: Description | null;
  onicecandidate: ((event: { candidate: CandidateInit | null }) => void) | null;
  onicegatheringstatechange: (() => void) | null;
  onconnectionstatechange: (() => void) | null;
  ontrack: ((event: { track: Track }) => void) | null;
  ondatachannel: ((event: { channel: DataChannel }) => void) | null;
  addTrack(track: Track): unknown;
  getTransceivers(): Transceiver[];
  createDataChannel(label: string, init?: DataChannelInit): DataChannel;
  createOffer(options?: { iceRestart?: boolean }): Promise<Description>;
  createAnswer(): Promise<Description>;
  setLocalDescription(description: Description): Promise<void>;
  setRemoteDescription(description: Description): Promise<void>;
  addIceCandidate(candidate: CandidateInit): Promise<void>;
  getStats(): Promise<{ forEach(visit: (entry: StatsEntry) => void): void }>;
  close(): void;
}

interface PeerConnectionConfig {
  readonly iceServers: readonly IceServer[];
  readonly iceTransportPolicy: 'all' | 'relay';
  readonly bundlePolicy: 'max-bundle';
  readonly portRange?: { readonly min: number; readonly max: number };
}

export interface AudioSource {
  createTrack(): Track;
  onData(data: { samples: Int16Array; sampleRate: number }): void;
}

export interface AudioSink {
  ondata: ((data: { samples: Int16Array; sampleRate: number; channelCount: number }) => void) | null;
  stop(): void;
}

interface Addon {
  readonly RTCPeerConnection: new (config: PeerConnectionConfig) => PeerConnection;
  readonly nonstandard: {
    readonly RTCAudioSource: new () => AudioSource;
    readonly RTCAudioSink: new (track: Track) => AudioSink;
  };
}

// The addon is CommonJS: only its default import exists at run time.
const addon = wrtc as unknown as Addon;

export function newPeerConnection(config: PeerConnectionConfig): PeerConnection {
  return new addon.RTCPeerConnection(config);
}

export function newAudioSource(): AudioSource {
  return new addon.nonstandard.RTCAudioSource();
}

export function newAudioSink(track: Track): AudioSink {
  return new addon.nonstandard.RTCAudioSink(track);
}
