import {
  AudioFrame,
  AudioSource,
  AudioStream,
  LocalAudioTrack,
  Room,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
} from '@livekit/rtc-node';

const RATE_HZ = 48_000;
const FRAME_MS = 20;

export interface HeardFrame {
  /** When it arrived, on `performance.now()`. */
  readonly atMs: number;
  readonly samples: Int16Array;
}

export interface TranscriptLine {
  readonly role: 'user' | 'agent';
  readonly text: string;
}

/** A caller on the unmodified LiveKit client for Node: speaks what it is given, keeps all it hears. */
export class RtcNodeCaller {
  readonly room = new Room();
  readonly heard: HeardFrame[] = [];
  readonly transcripts: TranscriptLine[] = [];
  readonly events: unknown[] = [];
  readonly #source = new AudioSource(RATE_HZ, 1, 40);
  readonly #queue: Int16Array[] = [];
  #isOpen = false;
  #pump: Promise<void> = Promise.resolve();
  hasDisconnected = false;
  /** When the first sample of the newest speech was handed over, on `performance.now()`. */
  spokeAtMs: number | null = null;

  async join(url: string, token: string): Promise<void> {
    this.room.on(RoomEvent.TrackSubscribed, (track) => {
      if (track.kind === TrackKind.KIND_AUDIO) void this.#listen(new AudioStream(track, RATE_HZ, 1));
    });
    this.room.on(RoomEvent.DataReceived, (payload, _who, _kind, topic) => {
      if (topic === 'agent-event') this.events.push(JSON.parse(new TextDecoder().decode(payload)));
    });
    this.room.on(RoomEvent.Disconnected, () => {
      this.hasDisconnected = true;
    });
    this.room.registerTextStreamHandler('lk.transcription', (reader, { identity }) => {
      const role = identity === this.room.localParticipant?.identity ? 'user' : 'agent';
      void reader.readAll().then(
        (text) => this.transcripts.push({ role, text }),
        () => {},
      );
    });
    await this.room.connect(url, token, { autoSubscribe: true, dynacast: false });
    const track = LocalAudioTrack.createAudioTrack('microphone', this.#source);
    const options = new TrackPublishOptions();
    options.source = TrackSource.SOURCE_MICROPHONE;
    await this.room.localParticipant?.publishTrack(track, options);
    this.#isOpen = true;
    this.#pump = this.#speakForever();
  }

  /** The agent's state, as its participant attribute says. */
  get agentState(): string | null {
    for (const participant of this.room.remoteParticipants.values()) {
      const state = participant.attributes['lk.agent.state'];
      if (state) return state;
    }
    return null;
  }

  /** Queues speech at 48 kHz behind what is still to be said. Answers its length in ms. */
  say(samples: Int16Array): number {
    this.#queue.push(samples);
    return (samples.length * 1000) / RATE_HZ;
  }

  get isSilent(): boolean {
    return this.#queue.length === 0;
  }

  /** Whether nothing but silence has come for `ms`: what was in flight has arrived. */
  hearsSilence(ms: number): boolean {
    const fromMs = performance.now() - ms;
    const recent = this.heard.filter((frame) => frame.atMs >= fromMs);
    return recent.length > 0 && recent.every((frame) => rms(frame.samples) < 50);
  }

  async sendEvent(event: object): Promise<void> {
    await this.room.localParticipant?.publishData(new TextEncoder().encode(JSON.stringify(event)), {
      reliable: true,
      topic: 'client-event',
    });
  }

  async leave(): Promise<void> {
    this.#isOpen = false;
    await this.#pump;
    await this.room.disconnect();
    await this.#source.close();
  }

  async #listen(stream: AudioStream): Promise<void> {
    for await (const frame of stream)
      this.heard.push({ atMs: performance.now(), samples: new Int16Array(frame.data) });
  }

  /** Microphones never stop: silence between the words. `captureFrame` paces by its own queue. */
  async #speakForever(): Promise<void> {
    const frameSamples = (RATE_HZ * FRAME_MS) / 1000;
    let current: Int16Array = new Int16Array(0);
    let at = 0;
    while (this.#isOpen) {
      const frame = new Int16Array(frameSamples);
      if (at >= current.length) {
        const next = this.#queue.shift();
        if (next) this.spokeAtMs = performance.now();
        current = next ?? new Int16Array(0);
        at = 0;
      }
      frame.set(current.subarray(at, at + frameSamples));
      at += frameSamples;
      await this.#source.captureFrame(new AudioFrame(frame, RATE_HZ, 1, frameSamples));
    }
  }
}

/** Root mean square of 16-bit samples. */
export function rms(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, samples.length));
}
