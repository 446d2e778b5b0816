import type { AgentEvent, AgentState, ClientEvent } from '../../shared/livekit-events.ts';

/** Why the worker closes a caller's connection. */
export type CloseReason =
  | 'agent_hangup'
  | 'user_hangup'
  | 'conversation_timeout'
  | 'replaced'
  | 'worker_shutdown'
  | 'internal_error';

export interface TransportStats {
  /** Round trip in ms, null before the first measurement. */
  readonly roundTripMs: number | null;
  readonly packetsLost: number;
  readonly jitterMs: number | null;
}

/**
 * Port: one caller's live connection, whichever protocol brought it. Made by ingress, used by the session.
 * Every method is safe after `close`, where it does nothing.
 */
export interface CallerConnection {
  readonly protocol: 'livekit' | 'whip' | 'phone';
  /**
   * Sends exactly 10 ms of mono PCM. `samples` owns its whole buffer and belongs to the connection afterwards.
   * Pacing is the caller's: what is pushed goes out at once.
   */
  sendAudio(samples: Int16Array, sampleRateHz: number): void;
  sendEvent(event: AgentEvent): void;
  setAgentState(state: AgentState): void;
  /** Appends `delta` to the agent's transcript segment; `isFinal` closes it (its delta may be empty). */
  sendAgentTranscript(segmentId: string, delta: string, isFinal: boolean): void;
  /** Replaces the caller's transcript segment by `text`, under the caller's own identity. */
  sendUserTranscript(segmentId: string, text: string, isFinal: boolean): void;
  stats(): Promise<TransportStats | null>;
  /** Tells the client why, then frees tracks, peer connections and sockets. Safe to call twice. */
  close(reason: CloseReason): void;
}

/** What the session hears from the connection it is attached to. After `onGone` nothing else comes. */
export interface CallerListener {
  /** First media is connected both ways. Comes again after a reconnect of the same connection. */
  onMediaConnected(): void;
  /** About 10 ms of mono PCM. Rate and length may change between calls. The buffer may be kept. */
  onAudio(samples: Int16Array, sampleRateHz: number): void;
  onClientEvent(event: ClientEvent): void;
  /** `left`: the caller hung up or left. `lost`: the transport dropped; the caller may come back. */
  onGone(how: 'left' | 'lost'): void;
}

/** A join that was let in. */
export interface Admission {
  readonly sessionId: string;
  readonly agentName: string;
  readonly callerIdentity: string;
  readonly callerName: string;
  /** Attaches the connection to the session; a connection attached before is closed with `replaced`. */
  attach(connection: CallerConnection): CallerListener;
}

/** Port: who may join which session. The session registry implements it for every ingress. */
export interface JoinGate {
  /**
   * Checks the token, the session's state and its deadline. Throws `Failure`: `invalid_token` with `Invalid token`
   * or `Token expired`; `not_found` when this worker holds no such session or it has ended.
   */
  admit(token: string): Promise<Admission>;
}
