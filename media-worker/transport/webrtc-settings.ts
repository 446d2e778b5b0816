import type { IceServer } from './wrtc.ts';

/** How the worker's peer connections are made and what they show to clients. */
export interface WebRtcSettings {
  /** STUN and TURN servers, for the worker and passed on to clients. */
  readonly iceServers: readonly IceServer[];
  /** Only candidates of a TURN server are used, by the worker and (where the protocol can say it) by clients. */
  readonly relayOnly: boolean;
  /** UDP ports of this process, both ends included. Every peer connection takes one: at least two a session. */
  readonly udpPortRange: { readonly min: number; readonly max: number } | null;
  /**
   * Addresses that clients are told. Empty: every address of the machine except loopback, and loopback as well when
   * the server is bound to it. `public/local` says that `public` leads to the local address `local` (1:1 NAT).
   */
  readonly advertisedAddresses: readonly string[];
  /** The server is bound to a loopback address. */
  readonly boundToLoopback: boolean;
  /** Asked from clients' decoders; 80000 makes the Opus encoder a third cheaper. Null leaves the client's own. */
  readonly opusBitrateBps: number | null;
  /** Longest wait for candidates where they can't be sent later, in ms. */
  readonly gatherTimeoutMs: number;
}

export const DEFAULT_WEBRTC_SETTINGS: WebRtcSettings = {
  iceServers: [],
  relayOnly: false,
  udpPortRange: null,
  advertisedAddresses: [],
  boundToLoopback: false,
  opusBitrateBps: 80_000,
  gatherTimeoutMs: 1_500,
};
