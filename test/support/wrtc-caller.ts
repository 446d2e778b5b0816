import type { Paced, Ticker } from '../../media-worker/playout/ticker.ts';
import { WebRtcPeer } from '../../media-worker/transport/webrtc-peer.ts';
import { DEFAULT_WEBRTC_SETTINGS } from '../../media-worker/transport/webrtc-settings.ts';
import { systemClock } from '../../shared/time.ts';
import { toneShare } from './pitch.ts';

export const CALLER_RATE_HZ = 48_000;
const FRAME_SAMPLES = CALLER_RATE_HZ / 100;
const FRAMES_PER_TICK = 2;
const AUDIBLE_PEAK = 500;
/** Share of a frame's energy that has to lie in the awaited tone. */
const TONE_SHARE = 0.6;
/** A tone that was not heard for so long has ended. */
const TONE_GAP_MS = 100;
const CONNECT_LIMIT_MS = 10_000;

/** A stretch of the awaited tone, on `performance.now()`. */
export interface HeardTone {
  readonly firstMs: number;
  lastMs: number;
}

/** When the first and the last sample of what was said were handed to the encoder, on `performance.now()`. */
export interface Said {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Sums over all samples that left the buffer. */
export interface JitterBufferTotals {
  readonly delayMs: number;
  readonly samples: number;
}

/**
 * A WHIP caller (RFC 9725) on nothing but the WebRTC addon: its microphone runs on a ticker as the agent's voice
 * does, silence between the words, and its ear notes when it hears a tone of `toneHz`.
 */
export class WrtcCaller implements Paced {
  readonly #peer: WebRtcPeer;
  readonly #ticker: Ticker;
  readonly #toneHz: number;
  readonly #connected: Promise<void>;
  #saying: { samples: Int16Array; at: number; firstMs: number; done: (said: Said) => void } | null = null;
  #location: string | null = null;
  #token = '';
  readonly tones: HeardTone[] = [];

  constructor(ticker: Ticker, toneHz: number) {
    this.#ticker = ticker;
    this.#toneHz = toneHz;
    let onConnected: () => void = () => {};
    this.#connected = new Promise((resolve) => {
      onConnected = resolve;
    });
    this.#peer = new WebRtcPeer(
      { ...DEFAULT_WEBRTC_SETTINGS, advertisedAddresses: ['127.0.0.1'], boundToLoopback: true },
      {
        onAudio: (samples, rateHz) => this.#hear(samples, rateHz),
        onStateChange: (state) => state === 'connected' && onConnected(),
      },
    );
  }

  /** Calls and resolves when media flows. */
  async dial(baseUrl: string, token: string): Promise<void> {
    this.#token = token;
    this.#peer.addAudioTrack();
    this.#peer.createDataChannel('events', {});
    await this.#peer.createOffer({ iceRestart: false });
    const signal = AbortSignal.timeout(CONNECT_LIMIT_MS);
    const offer = await this.#peer.gatheredSdp(signal, (ms, stop) => systemClock.sleep(ms, stop));
    const reply = await fetch(`${baseUrl}/whip`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/sdp' },
      body: offer,
      signal,
    });
    const text = await reply.text();
    if (reply.status !== 201) throw new Error(`call refused: ${reply.status} ${text}`);
    this.#location = new URL(reply.headers.get('location') ?? '', baseUrl).href;
    await this.#peer.acceptAnswer(text);
    await Promise.race([
      this.#connected,
      systemClock.sleep(CONNECT_LIMIT_MS, signal).then(() => Promise.reject(new Error('no media'))),
    ]);
    this.#ticker.add(this);
  }

  /** Speaks at 48 kHz; resolves when the last sample has been sent. One thing is said at a time. */
  say(samples: Int16Array): Promise<Said> {
    return new Promise((done) => {
      this.#saying = { samples, at: 0, firstMs: 0, done };
    });
  }

  /** The first tone that began after `afterMs`, null when there is none by `deadlineMs`. */
  async toneAfter(afterMs: number, deadlineMs: number): Promise<HeardTone | null> {
    for (;;) {
      const tone = this.tones.find(({ firstMs }) => firstMs > afterMs);
      if (tone) return tone;
      if (performance.now() > deadlineMs) return null;
      await systemClock.sleep(5);
    }
  }

  /** When the tone was heard last, known once it has been gone for 100 ms; null when it goes on past `deadlineMs`. */
  async endOf(tone: HeardTone, deadlineMs: number): Promise<number | null> {
    for (;;) {
      if (performance.now() - tone.lastMs > TONE_GAP_MS) return tone.lastMs;
      if (performance.now() > deadlineMs) return null;
      await systemClock.sleep(5);
    }
  }

  /** What the receiver's jitter buffer has done so far; the difference of two answers gives a mean. */
  async jitterBuffer(): Promise<JitterBufferTotals> {
    const inbound = (await this.#peer.stats()).find(({ type }) => type === 'inbound-rtp');
    return {
      delayMs: Number(inbound?.['jitterBufferDelay'] ?? 0) * 1000,
      samples: Number(inbound?.['jitterBufferEmittedCount'] ?? 0),
    };
  }

  tick(): void {
    for (let i = 0; i < FRAMES_PER_TICK; i++) this.#sendFrame();
  }

  async hangUp(): Promise<void> {
    this.#ticker.remove(this);
    if (this.#location !== null) {
      await fetch(this.#location, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${this.#token}` },
        signal: AbortSignal.timeout(CONNECT_LIMIT_MS),
      }).then((reply) => reply.arrayBuffer());
    }
    this.#peer.close();
  }

  #sendFrame(): void {
    const frame = new Int16Array(FRAME_SAMPLES);
    const saying = this.#saying;
    if (saying) {
      frame.set(saying.samples.subarray(saying.at, saying.at + FRAME_SAMPLES));
      if (saying.at === 0) saying.firstMs = performance.now();
      saying.at += FRAME_SAMPLES;
    }
    this.#peer.sendAudio(frame, CALLER_RATE_HZ);
    if (saying && saying.at >= saying.samples.length) {
      this.#saying = null;
      saying.done({ firstMs: saying.firstMs, lastMs: performance.now() });
    }
  }

  #hear(samples: Int16Array, rateHz: number): void {
    const isAudible = samples.some((sample) => Math.abs(sample) > AUDIBLE_PEAK);
    if (!isAudible || toneShare(samples, rateHz, this.#toneHz) < TONE_SHARE) return;
    const nowMs = performance.now();
    const last = this.tones.at(-1);
    if (last && nowMs - last.lastMs <= TONE_GAP_MS) last.lastMs = nowMs;
    else this.tones.push({ firstMs: nowMs, lastMs: nowMs });
  }
}
