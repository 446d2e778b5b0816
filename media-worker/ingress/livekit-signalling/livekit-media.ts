import { SignalTarget } from '@livekit/protocol';
import { DataPipe, messageBytes } from '../../transport/data-pipe.ts';
import { withTrackName } from '../../transport/sdp.ts';
import { WebRtcPeer } from '../../transport/webrtc-peer.ts';
import type { WebRtcSettings } from '../../transport/webrtc-settings.ts';
import type { CandidateInit, DataChannel, PeerState, StatsEntry } from '../../transport/wrtc.ts';

export interface LiveKitMediaEvents {
  onCandidate(target: SignalTarget, candidate: CandidateInit): void;
  onStateChange(target: SignalTarget, state: PeerState): void;
  onAudio(samples: Int16Array, sampleRateHz: number): void;
  onData(packet: Uint8Array): void;
  onNoPorts(): void;
}

interface AgentTrackName {
  readonly streamId: string;
  readonly trackId: string;
}

/** A longer data message is dropped unread, in bytes. */
const MAX_DATA_BYTES = 262_144;

/**
 * The two peer connections of a LiveKit client: it offers on the publisher (its microphone and data), we offer on
 * the subscriber (the agent's voice and data).
 */
export class LiveKitMedia {
  readonly #publisher: WebRtcPeer;
  readonly #subscriber: WebRtcPeer;
  readonly #reliable: DataPipe;
  readonly #agentTrack: AgentTrackName;
  readonly #events: LiveKitMediaEvents;

  constructor(settings: WebRtcSettings, agentTrack: AgentTrackName, events: LiveKitMediaEvents) {
    this.#agentTrack = agentTrack;
    this.#events = events;
    const common = (target: SignalTarget) => ({
      onCandidate: (candidate: CandidateInit) => events.onCandidate(target, candidate),
      onStateChange: (state: PeerState) => events.onStateChange(target, state),
      onNoPorts: () => events.onNoPorts(),
    });
    this.#publisher = new WebRtcPeer(settings, {
      ...common(SignalTarget.PUBLISHER),
      onAudio: (samples, sampleRateHz) => events.onAudio(samples, sampleRateHz),
      onDataChannel: (channel) => this.#listenTo(channel),
    });
    this.#subscriber = new WebRtcPeer(settings, common(SignalTarget.SUBSCRIBER));
    this.#subscriber.addAudioTrack();
    this.#reliable = new DataPipe(this.#subscriber.createDataChannel('_reliable', { ordered: true }));
    // Clients expect both channels; nothing that is sent from here may get lost.
    this.#subscriber.createDataChannel('_lossy', { ordered: false, maxRetransmits: 0 });
  }

  get subscriberState(): PeerState {
    return this.#subscriber.state;
  }

  get publisherState(): PeerState {
    return this.#publisher.state;
  }

  get bufferedBytes(): number {
    return this.#reliable.bufferedBytes;
  }

  async offer(options: { iceRestart: boolean }): Promise<string> {
    const { streamId, trackId } = this.#agentTrack;
    return withTrackName(await this.#subscriber.createOffer(options), streamId, trackId);
  }

  acceptAnswer(sdp: string): Promise<void> {
    return this.#subscriber.acceptAnswer(sdp);
  }

  acceptOffer(sdp: string): Promise<string> {
    return this.#publisher.acceptOffer(sdp);
  }

  addCandidate(target: SignalTarget, candidate: CandidateInit): Promise<void> {
    const peer = target === SignalTarget.PUBLISHER ? this.#publisher : this.#subscriber;
    return peer.addCandidate(candidate);
  }

  sendAudio(samples: Int16Array, sampleRateHz: number): void {
    this.#subscriber.sendAudio(samples, sampleRateHz);
  }

  /** False when the packet was dropped: the client doesn't read or is gone. */
  sendData(packet: Uint8Array): boolean {
    return this.#reliable.send(packet);
  }

  async stats(): Promise<StatsEntry[]> {
    const [up, down] = await Promise.all([this.#publisher.stats(), this.#subscriber.stats()]);
    return [...up, ...down];
  }

  close(): void {
    this.#publisher.close();
    this.#subscriber.close();
  }

  #listenTo(channel: DataChannel): void {
    channel.binaryType = 'arraybuffer';
    channel.onmessage = ({ data }) => {
      const packet = messageBytes(data);
      if (packet.byteLength <= MAX_DATA_BYTES) this.#events.onData(packet);
    };
  }
}
