import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import type { HttpRoute } from '../../media-worker/ingress/socket-server.ts';
import { projectFile } from '../../shared/project-file.ts';

/** The caller in the page. It is text, since the browser's own names are none of this project's types. */
const SCRIPT = `
  const room = new LivekitClient.Room();
  const seen = { transcripts: [], events: [], states: [], disconnects: [], reconnects: 0, tracks: [] };
  const audio = new AudioContext();
  let analyser = null;
  let microphone = null;
  room.registerTextStreamHandler('lk.transcription', async (reader, { identity }) => {
    const text = await reader.readAll();
    seen.transcripts.push({ from: identity, text, attributes: { ...reader.info.attributes } });
  });
  room.on('dataReceived', (payload, _participant, _kind, topic) => {
    if (topic === 'agent-event') seen.events.push(JSON.parse(new TextDecoder().decode(payload)));
  });
  room.on('participantAttributesChanged', (changed) => {
    if (changed['lk.agent.state']) seen.states.push(changed['lk.agent.state']);
  });
  room.on('disconnected', (reason) => seen.disconnects.push(LivekitClient.DisconnectReason[reason] ?? 'none'));
  room.on('reconnected', () => { seen.reconnects += 1; });
  room.on('trackSubscribed', (track, publication, participant) => {
    seen.tracks.push({ sid: publication.trackSid, isAgent: participant.isAgent });
    document.body.append(track.attach());
    analyser = audio.createAnalyser();
    analyser.fftSize = 8192;
    audio.createMediaStreamSource(new MediaStream([track.mediaStreamTrack])).connect(analyser);
  });
  globalThis.caller = {
    room,
    seen,
    connect: (url, token) => room.connect(url, token).then(() => null, (error) => error.message),
    speakTone: async (hz) => {
      const tone = audio.createOscillator();
      const out = audio.createMediaStreamDestination();
      tone.frequency.value = hz;
      tone.connect(out);
      tone.start();
      microphone = await room.localParticipant.publishTrack(out.stream.getAudioTracks()[0], { source: 'microphone' });
    },
    setMuted: (muted) => (muted ? microphone.mute() : microphone.unmute()),
    send: (json) => room.localParticipant.publishData(new TextEncoder().encode(json), { reliable: true, topic: 'client-event' }),
    heardHz: () => {
      if (!analyser) return 0;
      const levels = new Float32Array(analyser.frequencyBinCount);
      analyser.getFloatFrequencyData(levels);
      const loudest = levels.reduce((best, level, i) => (level > levels[best] ? i : best), 0);
      return levels[loudest] < -60 ? 0 : (loudest * audio.sampleRate) / analyser.fftSize;
    },
  };
`;

const PAGE = `<!doctype html><title>caller</title><body>
<script src="/test-page/livekit-client.js"></script><script>{${SCRIPT}}</script></body>`;

function serve(path: string, type: string, read: () => Promise<string | Uint8Array>): HttpRoute {
  return {
    method: 'GET',
    path,
    maxBodyBytes: 0,
    handle: async () => ({ status: 200, headers: { 'content-type': type }, body: await read() }),
  };
}

/** Serves a page with the unmodified livekit-client on it. */
export const livekitPageRoutes: readonly HttpRoute[] = [
  serve('/test-page', 'text/html', async () => PAGE),
  serve('/test-page/livekit-client.js', 'text/javascript', () =>
    readFile(projectFile('node_modules/livekit-client/dist/livekit-client.umd.js')),
  ),
];

export interface PageSaw {
  readonly transcripts: readonly {
    readonly from: string;
    readonly text: string;
    readonly attributes: Readonly<Record<string, string>>;
  }[];
  readonly events: readonly unknown[];
  readonly states: readonly string[];
  readonly disconnects: readonly string[];
  readonly reconnects: number;
  readonly tracks: readonly { readonly sid: string; readonly isAgent: boolean }[];
}

/** A caller on livekit-client in a browser page. */
export class LivekitPageCaller {
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  /** `origin` is where the page comes from: another one than the worker's shows what CORS allows. */
  static async open(browser: Browser, origin: string): Promise<LivekitPageCaller> {
    const page = await browser.newPage();
    await page.goto(`${origin}/test-page`);
    return new LivekitPageCaller(page);
  }

  /** Resolves to null, or to the words of the refusal. */
  connect(url: string, token: string): Promise<string | null> {
    return this.#run(`connect(${JSON.stringify(url)}, ${JSON.stringify(token)})`);
  }

  speakTone(hz: number): Promise<void> {
    return this.#run(`speakTone(${hz})`);
  }

  setMuted(muted: boolean): Promise<void> {
    return this.#run(`setMuted(${muted})`);
  }

  sendEvent(event: object): Promise<void> {
    return this.#run(`send(${JSON.stringify(JSON.stringify(event))})`);
  }

  /** The loudest pitch of the agent's voice right now, 0 while it is silent. */
  heardHz(): Promise<number> {
    return this.#run('heardHz()');
  }

  simulate(scenario: 'signal-reconnect' | 'full-reconnect'): Promise<void> {
    return this.#run(`room.simulateScenario('${scenario}')`);
  }

  seen(): Promise<PageSaw> {
    return this.#run('seen');
  }

  leave(): Promise<void> {
    return this.#run('room.disconnect()');
  }

  /** The page ends without a word to anybody. */
  async crash(): Promise<void> {
    await this.#page.goto('chrome://crash').catch(() => {});
  }

  #run<T>(expression: string): Promise<T> {
    return this.#page.evaluate<T>(`caller.${expression}`);
  }
}
