import { networkInterfaces } from 'node:os';
import { createCandidateFilter, isUdpCandidate } from './candidate-filter.ts';
import { hasMedia, withCandidates, withOpusBitrate } from './sdp.ts';
import type { WebRtcSettings } from './webrtc-settings.ts';
import {
  type AudioSink,
  type AudioSource,
  type CandidateInit,
  type DataChannel,
  type DataChannelInit,
  newAudioSink,
  newAudioSource,
  newPeerConnection,
  type PeerConnection,
  type PeerState,
  type StatsEntry,
  type Track,
} from './wrtc.ts';

/** What a peer tells its owner. Nothing comes after `close`. */
export interface PeerEvents {
  /** A candidate of our own that clients may see. */
  onCandidate?(candidate: CandidateInit): void;
  onStateChange?(state: PeerState): void;
  /** About 10 ms of mono PCM of the newest audio track. Comes at a steady rate, silence too. */
  onAudio?(samples: Int16Array, sampleRateHz: number): void;
  onDataChannel?(channel: DataChannel): void;
  /** Gathering ended without any UDP candidate: the process has no port left. */
  onNoPorts?(): void;
}

/** How many candidates are kept for a remote description that hasn't come yet; later ones are dropped. */
const MAX_QUEUED_CANDIDATES = 64;

/**
 * One peer connection: offers and answers in order, candidates held back until they can be used, one audio track
 * out, the newest audio track in. Everything is safe after `close`, where it does nothing.
 */
export class WebRtcPeer {
  readonly #settings: WebRtcSettings;
  readonly #events: PeerEvents;
  readonly #pc: PeerConnection;
  readonly #showable: (candidate: string) => readonly string[];
  #queued: CandidateInit[] = [];
  #takesCandidates = false;
  #hasUdp = false;
  #closed = false;
  #source: AudioSource | null = null;
  #track: Track | null = null;
  #sink: AudioSink | null = null;

  constructor(settings: WebRtcSettings, events: PeerEvents) {
    this.#settings = settings;
    this.#events = events;
    this.#showable = createCandidateFilter({ ...settings, localAddresses: ownAddresses() });
    this.#pc = newPeerConnection({
      iceServers: settings.iceServers,
      iceTransportPolicy: settings.relayOnly ? 'relay' : 'all',
      bundlePolicy: 'max-bundle',
      ...(settings.udpPortRange ? { portRange: settings.udpPortRange } : {}),
    });
    this.#listen();
  }

  get state(): PeerState {
    return this.#closed ? 'closed' : this.#pc.connectionState;
  }

  /** Adds the one track that `sendAudio` feeds. To be called before the description that shall carry it. */
  addAudioTrack(): void {
    if (this.#closed || this.#source) return;
    this.#source = newAudioSource();
    this.#track = this.#source.createTrack();
    this.#pc.addTrack(this.#track);
  }

  /** Exactly 10 ms of mono PCM that owns its buffer. Sent at once. */
  sendAudio(samples: Int16Array, sampleRateHz: number): void {
    if (!this.#closed) this.#source?.onData({ samples, sampleRate: sampleRateHz });
  }

  createDataChannel(label: string, init: DataChannelInit): DataChannel {
    return this.#pc.createDataChannel(label, init);
  }

  async createOffer(options: { iceRestart: boolean }): Promise<string> {
    const offer = await this.#pc.createOffer(options);
    await this.#pc.setLocalDescription(offer);
    return this.#localSdp(offer.sdp);
  }

  async acceptAnswer(sdp: string): Promise<void> {
    await this.#setRemote({ type: 'answer', sdp });
    await this.#takeQueued();
  }

  /** Takes an offer and answers it. Video is declined. Rejects when the SDP is no usable offer. */
  async acceptOffer(sdp: string): Promise<string> {
    // Candidates taken between offer and answer sometimes keep the addon from gathering its own.
    this.#takesCandidates = false;
    await this.#setRemote({ type: 'offer', sdp });
    if (hasMedia(sdp, 'video')) this.#declineVideo();
    const answer = await this.#pc.createAnswer();
    await this.#pc.setLocalDescription(answer);
    await this.#takeQueued();
    return this.#localSdp(answer.sdp);
  }

  /** Takes a candidate of the other side. Garbage and what comes after `close` is dropped. */
  async addCandidate(candidate: CandidateInit): Promise<void> {
    if (this.#closed || candidate.candidate === '') return;
    if (!this.#takesCandidates) {
      if (this.#queued.length < MAX_QUEUED_CANDIDATES) this.#queued.push(candidate);
      return;
    }
    await this.#pc.addIceCandidate(candidate).catch(() => {});
  }

  /** The local description with its candidates, at the latest after the settings' gathering time. */
  async gatheredSdp(
    signal: AbortSignal,
    sleep: (ms: number, signal: AbortSignal) => Promise<void>,
  ): Promise<string> {
    const settled = new AbortController();
    const stop = () => settled.abort();
    signal.addEventListener('abort', stop, { once: true });
    this.#onGathered = stop;
    if (this.#pc.iceGatheringState !== 'complete')
      await sleep(this.#settings.gatherTimeoutMs, settled.signal);
    signal.removeEventListener('abort', stop);
    return this.#localSdp(this.#pc.localDescription?.sdp ?? '');
  }

  async stats(): Promise<StatsEntry[]> {
    if (this.#closed) return [];
    const entries: StatsEntry[] = [];
    (await this.#pc.getStats()).forEach((entry) => {
      entries.push(entry);
    });
    return entries;
  }

  /** Frees the addon's objects in the order it needs: sink, track, connection. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queued = [];
    this.#sink?.stop();
    this.#track?.stop();
    this.#pc.close();
    this.#onGathered();
  }

  #onGathered: () => void = () => {};

  #listen(): void {
    const pc = this.#pc;
    pc.onicecandidate = ({ candidate }) => this.#onLocalCandidate(candidate);
    pc.onconnectionstatechange = () => {
      if (!this.#closed) this.#events.onStateChange?.(pc.connectionState);
    };
    pc.ondatachannel = ({ channel }) => {
      if (!this.#closed) this.#events.onDataChannel?.(channel);
    };
    pc.ontrack = ({ track }) => {
      if (!this.#closed && track.kind === 'audio') this.#hear(track);
    };
  }

  #onLocalCandidate(candidate: CandidateInit | null): void {
    if (this.#closed) return;
    if (candidate === null || candidate.candidate === '') {
      if (!this.#hasUdp && !this.#settings.relayOnly) this.#events.onNoPorts?.();
      this.#onGathered();
      return;
    }
    if (isUdpCandidate(candidate.candidate)) this.#hasUdp = true;
    for (const shown of this.#showable(candidate.candidate)) {
      this.#events.onCandidate?.({
        candidate: shown,
        sdpMid: candidate.sdpMid,
        sdpMLineIndex: candidate.sdpMLineIndex,
      });
    }
  }

  #hear(track: Track): void {
    this.#sink?.stop();
    const sink = newAudioSink(track);
    sink.ondata = ({ samples, sampleRate, channelCount }) => {
      if (this.#closed || this.#sink !== sink) return;
      this.#events.onAudio?.(channelCount === 1 ? samples : firstChannel(samples, channelCount), sampleRate);
    };
    this.#sink = sink;
  }

  async #setRemote(description: { type: 'offer' | 'answer'; sdp: string }): Promise<void> {
    const { opusBitrateBps } = this.#settings;
    const sdp = opusBitrateBps === null ? description.sdp : withOpusBitrate(description.sdp, opusBitrateBps);
    await this.#pc.setRemoteDescription({ type: description.type, sdp });
  }

  async #takeQueued(): Promise<void> {
    this.#takesCandidates = true;
    const queued = this.#queued;
    this.#queued = [];
    for (const candidate of queued) await this.addCandidate(candidate);
  }

  #declineVideo(): void {
    for (const transceiver of this.#pc.getTransceivers()) {
      if (transceiver.receiver.track.kind === 'video') transceiver.direction = 'inactive';
    }
  }

  #localSdp(sdp: string): string {
    return withCandidates(sdp, this.#showable);
  }
}

function firstChannel(samples: Int16Array, channelCount: number): Int16Array {
  return Int16Array.from({ length: samples.length / channelCount }, (_, i) => samples[i * channelCount] ?? 0);
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((entry) => entry.address));
}
