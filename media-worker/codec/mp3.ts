import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createEncoder, type WasmMediaEncoder } from 'wasm-media-encoders';
import { toFloat } from './pcm.ts';
import { NO_BYTES, type StreamEncoder } from './stream-encoder.ts';

const FRAME_SAMPLES = 1_152;
/** What LAME holds back: its look-ahead, the frame that is being filled, and the bits saved for later frames. */
const HELD_SAMPLES = 3 * FRAME_SAMPLES;

type Lame = WasmMediaEncoder<'audio/mpeg'>;

export interface Mp3Options {
  readonly sampleRateHz: number;
  readonly bitrateKbps: 64 | 128 | 192;
}

/**
 * MP3 encoders. An instance takes some 20 ms to make, so some are made ahead with `prepare`, and those that are done
 * are kept and used again; at most `maxSpare` lie idle.
 */
export async function loadMp3Encoders(maxSpare: number) {
  const wasmPath = createRequire(import.meta.url).resolve('wasm-media-encoders/wasm/mp3');
  const module = await WebAssembly.compile(await readFile(wasmPath));
  const spare: Lame[] = [];

  /** Makes one more unless `count` lie idle. Answers whether it did. */
  async function prepare(count = 1): Promise<boolean> {
    if (spare.length >= Math.min(count, maxSpare)) return false;
    spare.push(await createEncoder('audio/mpeg', module));
    return true;
  }

  /** Call `prepare` before. */
  function open({ sampleRateHz, bitrateKbps }: Mp3Options): StreamEncoder {
    const taken = spare.pop();
    if (!taken) throw new Error('no MP3 encoder was prepared');
    const lame: Lame = taken;
    lame.configure({
      channels: 1,
      sampleRate: sampleRateHz,
      outputSampleRate: outputRate(sampleRateHz),
      bitrate: bitrateKbps,
    });
    let isUnsettled = false;
    let isDone = false;
    return {
      encode: (samples) => {
        if (samples.length === 0) return NO_BYTES;
        isUnsettled = true;
        return lame.encode([toFloat(samples)]).slice();
      },
      settle: () => {
        if (!isUnsettled) return NO_BYTES;
        isUnsettled = false;
        return lame.encode([new Float32Array(HELD_SAMPLES)]).slice();
      },
      finish: () => {
        if (isDone) return NO_BYTES;
        isDone = true;
        const rest = lame.finalize().slice();
        if (spare.length < maxSpare) spare.push(lame);
        return rest;
      },
    };
  }

  return { prepare, open };
}
export type Mp3Encoders = Awaited<ReturnType<typeof loadMp3Encoders>>;

/** Said outright, else LAME halves the rate where it finds the bitrate low. */
function outputRate(sampleRateHz: number): 32_000 | 44_100 {
  return sampleRateHz === 32_000 ? 32_000 : 44_100;
}
