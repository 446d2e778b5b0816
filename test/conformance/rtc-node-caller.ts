import {
  AudioFrame,
  AudioSource,
  AudioStream,
  DisconnectReason,
  LocalAudioTrack,
  type RemoteTrack,
  Room,
  RoomEvent,
  TrackPublishOptions,
  TrackSource,
} from '@livekit/rtc-node';
import { AGENT_EVENT_TOPIC, CLIENT_EVENT_TOPIC, TRANSCRIPTION_TOPIC } from '../../shared/livekit-events.ts';
import { tone } from '../support/pitch.ts';

const RATE_HZ = 48_000;

export interface TranscriptSeen {
  readonly from: string;
  readonly text: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A caller on the unmodified `@livekit/rtc-node`: speaks tones and remembers what came. */
export class RtcNodeCaller {
  readonly room = new Room();
  readonly transcripts: TranscriptSeen[] = [];
  readonly events: unknown[] = [];
  readonly agentStates: string[] = [];
  readonly disconnects: string[] = [];
  readonly agentTracks: string[] = [];
  reconnectedCount = 0;
  /** The newest second of what was heard. */
  #heard = new Int16Array(0);
  #isSpeaking = true;

  constructor() {
    const { room } = this;
    room.registerTextStreamHandler(TRANSCRIPTION_TOPIC, (reader, { identity }) => {
      void reader.readAll().then((text) => {
        this.transcripts.push({ from: identity, text, attributes: { ...reader.info.attributes } });
      });
    });
    room.on(RoomEvent.DataReceived, (payload, _participant, _kind, topic) => {
      if (topic === AGENT_EVENT_TOPIC) this.events.push(JSON.parse(new TextDecoder().decode(payload)));
    });
    room.on(RoomEvent.ParticipantAttributesChanged, (attributes) => {
      const state = attributes['lk.agent.state'];
      if (state !== undefined) this.agentStates.push(state);
    });
    room.on(RoomEvent.Disconnected, (reason) =>
      this.disconnects.push(DisconnectReason[reason] ?? String(reason)),
    );
    room.on(RoomEvent.Reconnected, () => {
      this.reconnectedCount += 1;
    });
    room.on(RoomEvent.TrackSubscribed, (track) => {
      // A room that is already left has no track to listen to any more.
      this.#listen(track).catch(() => {});
    });
  }

  async connect(url: string, token: string): Promise<void> {
    await this.room.connect(url, token, { autoSubscribe: true, dynacast: false });
  }

  /** Publishes a microphone that plays a sine of `hz` until `leave`. */
  async speakTone(hz: number): Promise<void> {
    const source = new AudioSource(RATE_HZ, 1);
    const options = new TrackPublishOptions();
    options.source = TrackSource.SOURCE_MICROPHONE;
    await this.room.localParticipant?.publishTrack(LocalAudioTrack.createAudioTrack('mic', source), options);
    // Whole periods, so that the pieces join without a click.
    const second = tone(hz, 1_000, RATE_HZ);
    void (async () => {
      for (let at = 0; this.#isSpeaking; at = (at + 480) % RATE_HZ) {
        await source.captureFrame(new AudioFrame(second.slice(at, at + 480), RATE_HZ, 1, 480));
      }
    })().catch(() => {});
  }

  async sendEvent(event: object | string): Promise<void> {
    const text = typeof event === 'string' ? event : JSON.stringify(event);
    await this.room.localParticipant?.publishData(new TextEncoder().encode(text), {
      reliable: true,
      topic: CLIENT_EVENT_TOPIC,
    });
  }

  /** The newest `ms` of what was heard, or null when it isn't so much yet. */
  lastHeard(ms: number): { samples: Int16Array; rateHz: number } | null {
    const length = (ms * RATE_HZ) / 1_000;
    if (this.#heard.length < length) return null;
    return { samples: this.#heard.slice(-length), rateHz: RATE_HZ };
  }

  async leave(): Promise<void> {
    this.#isSpeaking = false;
    await this.room.disconnect();
  }

  async #listen(track: RemoteTrack): Promise<void> {
    this.agentTracks.push(track.sid ?? '');
    const reader = new AudioStream(track, RATE_HZ, 1).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const kept = this.#heard.slice(-(RATE_HZ - value.data.length));
      this.#heard = new Int16Array(kept.length + value.data.length);
      this.#heard.set(kept);
      this.#heard.set(value.data, kept.length);
    }
  }
}
