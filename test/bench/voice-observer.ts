import wrtc from '@roamhq/wrtc';
import type { VadEngine } from '../../media-worker/vad/vad-engine.ts';

/** A stretch of sound without a gap of 100 ms, on the worker's clock. */
export interface Sound {
  readonly firstMs: number;
  lastMs: number;
}

const GAP_MS = 100;
const SENT_PEAK = 500;
/** Above the codec's own noise in digital silence. */
const HEARD_PEAK = 300;
const SAMPLES_PER_MS = 16;

/** Notes when sound comes out of the receiver and when sound is handed to the encoder, for one call at a time. */
export class VoiceObserver {
  readonly heard: Sound[] = [];
  readonly sent: Sound[] = [];

  /** The engine, with an ear of ours on its windows. */
  listening(engine: VadEngine): VadEngine {
    return {
      ...engine,
      open: () => {
        const stream = engine.open();
        return {
          probability: (window) => {
            this.#hear(window);
            return stream.probability(window);
          },
          reset: () => stream.reset(),
          close: () => stream.close(),
        };
      },
    };
  }

  /** Watches every frame on its last step before the addon's encoder. To be called before the first call. */
  watchSending(): void {
    const { nonstandard } = wrtc;
    const Original = nonstandard.RTCAudioSource;
    const sent = this.sent;
    Object.defineProperty(nonstandard, 'RTCAudioSource', {
      value: function ObservedSource() {
        const source = new Original();
        return {
          createTrack: () => source.createTrack(),
          onData(data: Parameters<typeof source.onData>[0]) {
            if (data.samples.some((sample) => Math.abs(sample) > SENT_PEAK)) extend(sent, performance.now());
            source.onData(data);
          },
        };
      },
    });
  }

  #hear(window: Int16Array): void {
    const nowMs = performance.now();
    const first = window.findIndex((sample) => Math.abs(sample) > HEARD_PEAK);
    if (first >= 0) extend(this.heard, nowMs - (window.length - first) / SAMPLES_PER_MS);
  }
}

function extend(sounds: Sound[], atMs: number): void {
  const last = sounds.at(-1);
  if (last && atMs - last.lastMs <= GAP_MS) last.lastMs = Math.max(last.lastMs, atMs);
  else sounds.push({ firstMs: atMs, lastMs: atMs });
}
