import type { AgentEvent, AgentState } from '../../../shared/livekit-events.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Clock } from '../../../shared/time.ts';
import type {
  Admission,
  CallerConnection,
  CallerListener,
  CloseReason,
  TransportStats,
} from '../../transport/caller-connection.ts';
import { DataPipe, messageBytes } from '../../transport/data-pipe.ts';
import { receivedSoFar, transportStats } from '../../transport/liveness.ts';
import { WebRtcPeer } from '../../transport/webrtc-peer.ts';
import type { WebRtcSettings } from '../../transport/webrtc-settings.ts';
import type { CandidateInit, DataChannel, PeerState } from '../../transport/wrtc.ts';
import { parseClientEvent } from '../client-events.ts';
import type { LivenessSettings } from '../ingress-settings.ts';

export interface WhipConnectionDeps {
  readonly admission: Admission;
  readonly webrtc: WebRtcSettings;
  readonly liveness: LivenessSettings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onOver: () => void;
}

/** Label of the data channel for events, transcripts and state. The client opens it. */
const EVENTS_LABEL = 'events';
/** Messages kept for a channel that isn't there yet; the oldest is dropped for a further one. */
const MAX_EARLY_MESSAGES = 64;
/** How many agent segments may be open at once; the text of the oldest is forgotten for a further one. */
const MAX_OPEN_SEGMENTS = 8;
/** A longer message of the client's is dropped unread, in bytes. */
const MAX_MESSAGE_BYTES = 262_144;

/** One WHIP client (RFC 9725): one peer connection, which it offers; events on its data channel as JSON. */
export class WhipConnection implements CallerConnection {
  readonly protocol = 'whip';
  readonly #deps: WhipConnectionDeps;
  readonly #peer: WebRtcPeer;
  readonly #over = new AbortController();
  readonly #agentTexts = new Map<string, string>();
  #listener: CallerListener | null = null;
  #pipe: DataPipe | null = null;
  #early: string[] = [];
  #isMediaUp = false;

  constructor(deps: WhipConnectionDeps) {
    this.#deps = deps;
    this.#peer = new WebRtcPeer(deps.webrtc, {
      onStateChange: (state) => this.#onPeerState(state),
      onAudio: (samples, sampleRateHz) => this.#listener?.onAudio(samples, sampleRateHz),
      onDataChannel: (channel) => this.#onDataChannel(channel),
    });
    this.#peer.addAudioTrack();
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** The answer with its candidates. Rejects when the offer is none that can be answered. */
  async answer(offerSdp: string): Promise<string> {
    await this.#peer.acceptOffer(offerSdp);
    return this.#peer.gatheredSdp(this.#over.signal, (ms, signal) => this.#deps.clock.sleep(ms, signal));
  }

  /** Attaches to the session; to be called once, when the answer is about to go out. */
  start(): void {
    if (this.isOver) return;
    this.#listener = this.#deps.admission.attach(this);
    void this.#watch();
  }

  takeCandidate(candidate: CandidateInit): void {
    void this.#peer.addCandidate(candidate);
  }

  /** The caller hung up. */
  left(): void {
    this.#end('left');
  }

  sendAudio(samples: Int16Array, sampleRateHz: number): void {
    if (!this.isOver) this.#peer.sendAudio(samples, sampleRateHz);
  }

  sendEvent(event: AgentEvent): void {
    this.#send(event);
  }

  setAgentState(state: AgentState): void {
    this.#send({ type: 'agent.state', state });
  }

  sendAgentTranscript(segmentId: string, delta: string, isFinal: boolean): void {
    if (this.isOver) return;
    const text = (this.#agentTexts.get(segmentId) ?? '') + delta;
    if (isFinal) this.#agentTexts.delete(segmentId);
    else this.#remember(segmentId, text);
    this.#send({ type: 'transcript', role: 'agent', segment_id: segmentId, text, final: isFinal });
  }

  sendUserTranscript(segmentId: string, text: string, isFinal: boolean): void {
    this.#send({ type: 'transcript', role: 'user', segment_id: segmentId, text, final: isFinal });
  }

  async stats(): Promise<TransportStats | null> {
    return this.isOver ? null : transportStats(await this.#peer.stats());
  }

  close(reason: CloseReason): void {
    if (this.isOver) return;
    this.#over.abort();
    const { clock, liveness, onOver } = this.#deps;
    // The last event says why; a client that is replaced has nothing to wait for.
    void clock.sleep(reason === 'replaced' ? 0 : liveness.drainMs).finally(() => {
      this.#peer.close();
      onOver();
    });
  }

  #end(how: 'left' | 'lost'): void {
    if (this.isOver) return;
    this.#over.abort();
    this.#peer.close();
    this.#deps.onOver();
    this.#listener?.onGone(how);
  }

  #remember(segmentId: string, text: string): void {
    this.#agentTexts.set(segmentId, text);
    const oldest = this.#agentTexts.keys().next().value;
    if (this.#agentTexts.size > MAX_OPEN_SEGMENTS && oldest !== undefined) this.#agentTexts.delete(oldest);
  }

  #send(message: object): void {
    if (this.isOver) return;
    const json = JSON.stringify(message);
    if (this.#pipe) {
      this.#pipe.send(json);
      return;
    }
    this.#early.push(json);
    if (this.#early.length > MAX_EARLY_MESSAGES) this.#early.shift();
  }

  #onDataChannel(channel: DataChannel): void {
    if (channel.label !== EVENTS_LABEL || this.#pipe) return;
    channel.binaryType = 'arraybuffer';
    channel.onmessage = ({ data }) => {
      const bytes = messageBytes(data);
      if (this.isOver || bytes.byteLength > MAX_MESSAGE_BYTES) return;
      const event = parseClientEvent(bytes);
      if (event) this.#listener?.onClientEvent(event);
    };
    this.#pipe = new DataPipe(channel);
    for (const message of this.#early) this.#pipe.send(message);
    this.#early = [];
  }

  #onPeerState(state: PeerState): void {
    if (this.isOver) return;
    if (state === 'connected' && !this.#isMediaUp) {
      this.#isMediaUp = true;
      this.#listener?.onMediaConnected();
    } else if (state === 'failed') this.#end('lost');
    else if (state === 'disconnected') this.#isMediaUp = false;
  }

  /** There is no signalling to go silent: the packets alone tell whether the client is there. */
  async #watch(): Promise<void> {
    const { clock, liveness } = this.#deps;
    let received = -1;
    let heardMs = clock.monotonicMs();
    for (;;) {
      await clock.sleep(liveness.checkIntervalMs, this.#over.signal);
      if (this.isOver) return;
      const now = receivedSoFar(await this.#peer.stats().catch(() => []));
      if (now > received) heardMs = clock.monotonicMs();
      received = Math.max(received, now);
      if (clock.monotonicMs() - heardMs > liveness.mediaSilenceMs) this.#end('lost');
    }
  }
}
