import {
  DisconnectReason,
  type LocalTrackPublication,
  type Participant,
  type RemoteTrack,
  Room,
  RoomEvent,
  type TextStreamReader,
  Track,
} from '../vendor/livekit-client.js';
import { noteOf, readAgentEvent } from './agent-event.ts';
import type { CallListener } from './call-listener.ts';
import {
  AGENT_LEFT,
  AGENT_SILENT,
  announcedEnding,
  disconnectEnding,
  type Ending,
  HUNG_UP,
} from './ending.ts';

const AGENT_STATE_ATTRIBUTE = 'lk.agent.state';
/** An agent that hasn't shown a state after this will not come. */
const AGENT_DEADLINE_MS = 15_000;
/** How long the transport may take to close after the agent's last event. */
const CLOSE_GRACE_MS = 10_000;
/** How long the hang-up message may take before the connection is closed over it. */
const HANG_UP_MS = 1000;

/** One conversation over the room protocol, from connecting to its end. */
export class Call {
  // The worker speaks the two-connection form of the protocol; asking for the other first would cost a round trip.
  readonly #room = new Room({ adaptiveStream: false, dynacast: false, singlePeerConnection: false });
  readonly #microphone: MediaStreamTrack | null;
  readonly #listener: CallListener;
  readonly #sound = document.createElement('audio');
  #published: LocalTrackPublication | null = null;
  #ending: Ending | null = null;
  #isOver = false;
  #isConnecting = true;
  #hasAgent = false;
  #timer = 0;

  /** Takes the microphone over and stops it at the end; null: the person types only. */
  constructor(microphone: MediaStreamTrack | null, listener: CallListener) {
    this.#microphone = microphone;
    this.#listener = listener;
    this.#sound.autoplay = true;
    this.#listen();
  }

  /** Resolves when the call stands. When it can't be built up, `onEnded` says why. */
  async connect(url: string, token: string): Promise<void> {
    this.#listener.onPhase('connecting');
    try {
      await this.#room.connect(url, token);
      if (this.#microphone)
        this.#published = await this.#room.localParticipant.publishTrack(this.#microphone, {
          source: Track.Source.Microphone,
        });
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.#end({ message: `The call could not be set up with ${hostOf(url)}: ${detail}`, isOrderly: false });
      return;
    }
    this.#isConnecting = false;
    if (this.#isOver) return;
    this.#listener.onPhase('live');
    for (const participant of this.#room.remoteParticipants.values()) this.#readState(participant);
    if (!this.#hasAgent) this.#endLater(AGENT_SILENT, AGENT_DEADLINE_MS);
  }

  async setMuted(isMuted: boolean): Promise<void> {
    await (isMuted ? this.#published?.mute() : this.#published?.unmute());
  }

  say(text: string): Promise<void> {
    return this.#send({ type: 'user.message', text });
  }

  /** Tells the agent that the person is typing. */
  showActivity(): void {
    this.#send({ type: 'user.activity' }).catch(() => {});
  }

  /** Lets sound out; to be called in the handler of a click. */
  async unlockSound(): Promise<void> {
    await this.#room.startAudio();
  }

  async hangUp(): Promise<void> {
    if (this.#isOver) return;
    this.#ending = HUNG_UP;
    const told = this.#send({ type: 'user.hangup' }).catch(() => {});
    await Promise.race([told, new Promise((resolve) => setTimeout(resolve, HANG_UP_MS))]);
    this.#end(HUNG_UP);
  }

  #listen(): void {
    const { onPhase, onAgentAudio, onSoundBlocked } = this.#listener;
    this.#room
      .on(RoomEvent.ParticipantAttributesChanged, (_changed, participant) => this.#readState(participant))
      .on(RoomEvent.ParticipantConnected, (participant) => this.#readState(participant))
      .on(RoomEvent.ParticipantDisconnected, () => this.#endLater(AGENT_LEFT, CLOSE_GRACE_MS))
      .on(RoomEvent.DataReceived, (payload, _from, _kind, topic) => {
        if (topic === 'agent-event') this.#onAgentEvent(payload);
      })
      .on(RoomEvent.TrackSubscribed, (track: RemoteTrack) => {
        if (track.kind !== Track.Kind.Audio) return;
        track.attach(this.#sound);
        onAgentAudio(track.mediaStreamTrack);
      })
      .on(RoomEvent.AudioPlaybackStatusChanged, () => onSoundBlocked(!this.#room.canPlaybackAudio))
      .on(RoomEvent.SignalReconnecting, () => onPhase('reconnecting'))
      .on(RoomEvent.Reconnecting, () => onPhase('reconnecting'))
      .on(RoomEvent.Reconnected, () => onPhase('live'))
      .on(RoomEvent.Disconnected, (reason) => {
        // While connecting, the error of `connect` says more.
        if (this.#isConnecting) return;
        this.#end(disconnectEnding(reason === undefined ? undefined : DisconnectReason[reason]));
      });
    this.#microphone?.addEventListener('ended', () => {
      if (!this.#isOver) this.#listener.onNote('The microphone stopped. Hang up and call again, or type.');
    });
    this.#room.registerTextStreamHandler('lk.transcription', (reader, { identity }) => {
      void this.#readTranscription(reader, identity === this.#room.localParticipant.identity);
    });
  }

  #readState(participant: Participant): void {
    const state = participant.attributes[AGENT_STATE_ATTRIBUTE];
    if (participant.isLocal || state === undefined || this.#isOver) return;
    if (!this.#hasAgent) clearTimeout(this.#timer);
    this.#hasAgent = true;
    this.#listener.onAgentState(state);
  }

  #onAgentEvent(payload: Uint8Array): void {
    const event = readAgentEvent(payload);
    if (!event || this.#isOver) return;
    if (event.type === 'session.ended') {
      const ending = announcedEnding(String(event['reason']));
      if (!ending) return;
      this.#ending ??= ending;
      this.#endLater(ending, CLOSE_GRACE_MS);
      return;
    }
    const note = noteOf(event);
    if (note !== null) this.#listener.onNote(note);
  }

  async #readTranscription(reader: TextStreamReader, isOfCaller: boolean): Promise<void> {
    const attributes = reader.info.attributes ?? {};
    const segmentId = attributes['lk.segment_id'] ?? reader.info.id;
    const speaker = isOfCaller ? 'user' : 'agent';
    const isMarkedFinal = attributes['lk.transcription_final'] === 'true';
    const tell = (text: string, isFinal: boolean) =>
      this.#listener.onPiece({ segmentId, speaker, text, isFinal });
    try {
      if (isOfCaller) return tell(await reader.readAll(), isMarkedFinal);
      for await (const text of reader) tell(text, false);
    } catch {
      // A stream that breaks off leaves what came of it.
    }
    if (!isOfCaller) tell('', true);
  }

  #send(event: object): Promise<void> {
    const payload = new TextEncoder().encode(JSON.stringify(event));
    return this.#room.localParticipant.publishData(payload, { reliable: true, topic: 'client-event' });
  }

  #endLater(ending: Ending, ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(ending), ms);
  }

  /** What was said about the end before counts more than how the connection closed. */
  #end(ending: Ending): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#microphone?.stop();
    this.#sound.srcObject = null;
    void this.#room.disconnect();
    this.#listener.onEnded(this.#ending ?? ending);
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the voice worker';
}
