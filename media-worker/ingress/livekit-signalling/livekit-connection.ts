import {
  DisconnectReason,
  type LeaveRequest,
  ParticipantUpdate,
  SessionDescription,
  type SignalTarget,
  TrackSubscribed,
  TrickleRequest,
} from '@livekit/protocol';
import {
  AGENT_EVENT_TOPIC,
  type AgentEvent,
  type AgentState,
  CLIENT_EVENT_TOPIC,
} from '../../../shared/livekit-events.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Clock } from '../../../shared/time.ts';
import type {
  Admission,
  CallerConnection,
  CallerListener,
  CloseReason,
  TransportStats,
} from '../../transport/caller-connection.ts';
import { receivedSoFar, transportStats } from '../../transport/liveness.ts';
import type { WebRtcSettings } from '../../transport/webrtc-settings.ts';
import type { CandidateInit, PeerState } from '../../transport/wrtc.ts';
import { parseClientEvent } from '../client-events.ts';
import type { LivenessSettings } from '../ingress-settings.ts';
import type { ServerSocket } from '../socket-server.ts';
import { parsePacket, unsupportedRpc, userPacket } from './data-packets.ts';
import { leaveAndRejoin, leaveFor, refusal } from './leave.ts';
import { LiveKitMedia } from './livekit-media.ts';
import { RoomView } from './room-view.ts';
import { type SignalMessage, sendSignal } from './signal-socket.ts';
import { TranscriptStreams } from './transcript-streams.ts';

export interface LiveKitConnectionDeps {
  readonly admission: Admission;
  readonly webrtc: WebRtcSettings;
  readonly liveness: LivenessSettings;
  readonly clock: Clock;
  readonly log: Logger;
  /** The connection is over and can't be resumed any more. */
  readonly onOver: () => void;
}

/**
 * One LiveKit participant from its join to its end. The signalling socket may be replaced while it lives (resume);
 * the two peer connections stay.
 */
export class LiveKitConnection implements CallerConnection {
  readonly protocol = 'livekit';
  readonly view: RoomView;
  readonly #deps: LiveKitConnectionDeps;
  readonly #media: LiveKitMedia;
  readonly #transcripts: TranscriptStreams;
  readonly #over = new AbortController();
  #listener: CallerListener | null = null;
  #socket: ServerSocket | null = null;
  #negotiation: Promise<unknown> = Promise.resolve();
  #offerId = 0;
  #signalHeardMs: number;
  #socketGoneMs: number;
  #isMediaUp = false;
  #hasAnsweredJoin = false;
  #hasHeardAudio = false;
  #isLeaving = false;

  constructor(deps: LiveKitConnectionDeps) {
    this.#deps = deps;
    this.#signalHeardMs = deps.clock.monotonicMs();
    this.#socketGoneMs = this.#signalHeardMs;
    this.view = new RoomView(deps.admission, deps.clock.nowMs());
    const agentTrack = { streamId: this.view.agentStreamId, trackId: this.view.agentTrackSid };
    this.#media = new LiveKitMedia(deps.webrtc, agentTrack, {
      onCandidate: (target, candidate) => this.#trickle(target, candidate),
      onStateChange: (_target, state) => this.#onPeerState(state),
      onAudio: (samples, sampleRateHz) => this.#onAudio(samples, sampleRateHz),
      onData: (packet) => this.#onData(packet),
      onNoPorts: () => {
        deps.log.warn({ sessionId: deps.admission.sessionId }, 'no UDP port left for a caller');
        this.fail(refusal(DisconnectReason.JOIN_FAILURE));
      },
    });
    this.#transcripts = new TranscriptStreams({
      send: (packet) => void this.#media.sendData(packet),
      nowMs: () => deps.clock.nowMs(),
    });
  }

  get sessionId(): string {
    return this.#deps.admission.sessionId;
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Attaches to the session, answers the join and offers the agent's voice. */
  start(socket: ServerSocket): void {
    this.#socket = socket;
    try {
      this.#listener = this.#deps.admission.attach(this);
    } catch (error) {
      this.#deps.log.warn({ sessionId: this.sessionId, error }, 'session ended while its caller joined');
      this.fail(refusal(DisconnectReason.ROOM_CLOSED));
    }
    if (this.isOver) return;
    this.signal({ case: 'join', value: this.view.join(this.#deps.webrtc) });
    this.#hasAnsweredJoin = true;
    this.#offer({ iceRestart: false });
    void this.#watch();
  }

  /** Goes on over a new signalling socket; the old one, if it still stands, is closed. */
  resume(socket: ServerSocket): void {
    const old = this.#socket;
    this.#socket = socket;
    this.#signalHeardMs = this.#deps.clock.monotonicMs();
    old?.close(1000, 'resumed');
    this.signal({ case: 'reconnect', value: this.view.reconnect(this.#deps.webrtc) });
    this.sendParticipants();
    this.#offer({ iceRestart: true });
  }

  socketClosed(socket: ServerSocket): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    this.#socketGoneMs = this.#deps.clock.monotonicMs();
  }

  heardSignal(): void {
    this.#signalHeardMs = this.#deps.clock.monotonicMs();
  }

  signal(message: SignalMessage): void {
    if (this.#socket) sendSignal(this.#socket, message);
  }

  sendParticipants(): void {
    const update = new ParticipantUpdate({ participants: [this.view.agent(), this.view.caller()] });
    this.signal({ case: 'update', value: update });
  }

  /** The caller's offer for its own tracks and data. */
  takeOffer(offer: SessionDescription): void {
    this.#negotiate(async () => {
      const sdp = await this.#media.acceptOffer(offer.sdp);
      this.signal({ case: 'answer', value: new SessionDescription({ type: 'answer', sdp, id: offer.id }) });
    });
  }

  takeAnswer(answer: SessionDescription): void {
    // An answer to an offer that was followed by another one fits nothing any more.
    if (answer.id !== 0 && answer.id !== this.#offerId) return;
    this.#negotiate(() => this.#media.acceptAnswer(answer.sdp));
  }

  takeCandidate(target: SignalTarget, candidate: CandidateInit): void {
    void this.#media.addCandidate(target, candidate);
  }

  /**
   * The caller said goodbye. A client that starts over says so too and joins again at once: one whose media had
   * failed counts as lost, and any other is given a moment before its leaving is believed.
   */
  left(): void {
    if (this.isOver || this.#isLeaving) return;
    if (this.#isBroken()) {
      this.#end('lost');
      return;
    }
    this.#isLeaving = true;
    this.#release();
    const { clock, liveness } = this.#deps;
    void clock.sleep(liveness.leaveGraceMs, this.#over.signal).then(() => this.#end('left'));
  }

  /** Ends a connection that can't go on, telling the client how to take it. */
  fail(leave: LeaveRequest): void {
    if (this.isOver) return;
    this.signal({ case: 'leave', value: leave });
    this.#end('lost');
  }

  sendAudio(samples: Int16Array, sampleRateHz: number): void {
    if (!this.isOver) this.#media.sendAudio(samples, sampleRateHz);
  }

  sendEvent(event: AgentEvent): void {
    if (this.isOver) return;
    this.#media.sendData(userPacket(this.view.agentIdentity, AGENT_EVENT_TOPIC, JSON.stringify(event)));
  }

  setAgentState(state: AgentState): void {
    if (this.isOver) return;
    this.view.setAgentState(state);
    // The answer to the join carries the state itself, and clients take no other message before it.
    if (!this.#hasAnsweredJoin) return;
    this.signal({ case: 'update', value: new ParticipantUpdate({ participants: [this.view.agent()] }) });
  }

  sendAgentTranscript(segmentId: string, delta: string, isFinal: boolean): void {
    if (this.isOver) return;
    const speaker = { identity: this.view.agentIdentity, trackSid: this.view.agentTrackSid };
    this.#transcripts.append(speaker, segmentId, delta, isFinal);
  }

  sendUserTranscript(segmentId: string, text: string, isFinal: boolean): void {
    if (this.isOver) return;
    const speaker = { identity: this.view.callerIdentity, trackSid: this.view.callerTrackSid };
    this.#transcripts.replace(speaker, segmentId, text, isFinal);
  }

  async stats(): Promise<TransportStats | null> {
    return this.isOver ? null : transportStats(await this.#media.stats());
  }

  close(reason: CloseReason): void {
    if (this.isOver) return;
    this.#over.abort();
    void this.#sayGoodbye(reason).finally(() => this.#release());
  }

  async #sayGoodbye(reason: CloseReason): Promise<void> {
    const { clock, liveness } = this.#deps;
    // Data and signalling travel apart: the last events must be out before the client is told to leave.
    if (reason !== 'replaced') await clock.sleep(liveness.drainMs);
    this.signal({ case: 'leave', value: leaveFor(reason) });
  }

  #end(how: 'left' | 'lost'): void {
    if (this.isOver) return;
    this.#over.abort();
    this.#release();
    this.#listener?.onGone(how);
  }

  #isBroken(): boolean {
    const publisher = this.#media.publisherState;
    const isPublisherFine = publisher === 'connected' || publisher === 'new';
    return this.#media.subscriberState !== 'connected' || !isPublisherFine;
  }

  #release(): void {
    this.#socket?.close(1000, '');
    this.#socket = null;
    this.#media.close();
    this.#deps.onOver();
  }

  #offer(options: { iceRestart: boolean }): void {
    this.#negotiate(async () => {
      const sdp = await this.#media.offer(options);
      this.#offerId += 1;
      this.signal({
        case: 'offer',
        value: new SessionDescription({ type: 'offer', sdp, id: this.#offerId }),
      });
    });
  }

  /** One step of negotiation after the other. One that fails ends the connection: the two sides disagree. */
  #negotiate(step: () => Promise<void>): void {
    this.#negotiation = this.#negotiation.then(async () => {
      if (this.isOver) return;
      try {
        await step();
      } catch (error) {
        this.#deps.log.warn({ sessionId: this.sessionId, error }, 'negotiation failed');
        this.fail(refusal(DisconnectReason.STATE_MISMATCH));
      }
    });
  }

  #trickle(target: SignalTarget, candidate: CandidateInit): void {
    const candidateInit = JSON.stringify(candidate);
    this.signal({ case: 'trickle', value: new TrickleRequest({ candidateInit, target }) });
  }

  #onPeerState(state: PeerState): void {
    if (this.isOver) return;
    if (state === 'connected') void this.#considerMediaUp();
    else if (this.#media.subscriberState !== 'connected') this.#isMediaUp = false;
  }

  async #considerMediaUp(): Promise<void> {
    if (this.#media.subscriberState !== 'connected') return;
    if (this.#media.publisherState !== 'connected') {
      await this.#deps.clock.sleep(this.#deps.liveness.microphoneWaitMs, this.#over.signal);
    }
    if (this.isOver || this.#isMediaUp || this.#media.subscriberState !== 'connected') return;
    this.#isMediaUp = true;
    this.#listener?.onMediaConnected();
  }

  #onAudio(samples: Int16Array, sampleRateHz: number): void {
    if (this.isOver) return;
    if (!this.#hasHeardAudio && this.view.callerTrackSid !== '') {
      this.#hasHeardAudio = true;
      const heard = new TrackSubscribed({ trackSid: this.view.callerTrackSid });
      this.signal({ case: 'trackSubscribed', value: heard });
    }
    this.#listener?.onAudio(samples, sampleRateHz);
  }

  #onData(bytes: Uint8Array): void {
    if (this.isOver) return;
    const value = parsePacket(bytes)?.value;
    if (value?.case === 'user' && value.value.topic === CLIENT_EVENT_TOPIC) {
      const event = parseClientEvent(value.value.payload);
      if (event) this.#listener?.onClientEvent(event);
    } else if (value?.case === 'rpcRequest') {
      const answers = unsupportedRpc(this.view.agentIdentity, value.value.id);
      for (const answer of answers) this.#media.sendData(answer);
    }
  }

  /** Notices a client that is gone without a word: by its silence on the socket, by that of its media. */
  async #watch(): Promise<void> {
    const { clock, liveness } = this.#deps;
    let received = -1;
    let mediaHeardMs = clock.monotonicMs();
    for (;;) {
      await clock.sleep(liveness.checkIntervalMs, this.#over.signal);
      if (this.isOver || this.#isLeaving) return;
      const now = receivedSoFar(await this.#media.stats().catch(() => []));
      const nowMs = clock.monotonicMs();
      if (now > received) mediaHeardMs = nowMs;
      received = Math.max(received, now);
      if (this.#socket && nowMs - this.#signalHeardMs > liveness.signalTimeoutMs) {
        const silent = this.#socket;
        this.socketClosed(silent);
        silent.close(1001, 'ping timeout');
      }
      const isSignalLost = !this.#socket && nowMs - this.#socketGoneMs > liveness.resumeWindowMs;
      if (isSignalLost || nowMs - mediaHeardMs > liveness.mediaSilenceMs) this.fail(leaveAndRejoin());
    }
  }
}
