import type { WebRtcSettings } from '../transport/webrtc-settings.ts';
import type { SocketServerSettings } from './socket-server.ts';

/** When a connection counts as gone. All in ms. */
export interface LivenessSettings {
  /** How often the connection is looked at. */
  readonly checkIntervalMs: number;
  /** A signalling socket that says nothing for so long is cut. Clients ping every 5 s. */
  readonly signalTimeoutMs: number;
  /** How long a cut signalling socket may be taken up again before the caller counts as lost. */
  readonly resumeWindowMs: number;
  /** How long a LiveKit client that left may take to join again before it counts as gone. */
  readonly leaveGraceMs: number;
  /** No packet of any kind from the caller for so long: lost. */
  readonly mediaSilenceMs: number;
  /** How long a caller who hears the agent may take to send a microphone before the call starts without. */
  readonly microphoneWaitMs: number;
  /** How long a closing connection waits for its last messages to go out. */
  readonly drainMs: number;
}

export const DEFAULT_LIVENESS: LivenessSettings = {
  checkIntervalMs: 2_000,
  signalTimeoutMs: 15_000,
  resumeWindowMs: 5_000,
  leaveGraceMs: 1_000,
  mediaSilenceMs: 15_000,
  microphoneWaitMs: 2_000,
  drainMs: 300,
};

export interface IngressSettings {
  readonly server: SocketServerSettings;
  readonly webrtc: WebRtcSettings;
  readonly liveness: LivenessSettings;
}
