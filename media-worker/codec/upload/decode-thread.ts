import { parentPort } from 'node:worker_threads';
import { toInt16 } from '../pcm.ts';
import { loadResampler, type Resampler } from '../resample.ts';
import type { DecodeAnswer, DecodeJob } from './decode-protocol.ts';
import { decodeUpload } from './decode-upload.ts';
import { type DecodedAudio, UndecodableAudio } from './decoded-audio.ts';
import type { FfmpegOptions } from './ffmpeg-reader.ts';

const OUTPUT_HZ = 16_000;

const port = parentPort;
if (!port) throw new Error('decode-thread is started as a worker thread');

const openResampler = await loadResampler();
let audio: AsyncGenerator<Int16Array> | null = null;

/** The file as recognisers want it. */
async function* speechOf(file: Uint8Array, options: FfmpegOptions): AsyncGenerator<Int16Array> {
  let resampler: { readonly inputHz: number; readonly stream: Resampler } | null = null;
  for await (const decoded of decodeUpload(file, options)) {
    const mono = mixed(decoded);
    const inputHz = decoded.sampleRateHz;
    if (resampler && resampler.inputHz !== inputHz) {
      yield resampler.stream.flush();
      resampler.stream.close();
      resampler = null;
    }
    if (inputHz !== OUTPUT_HZ) resampler ??= { inputHz, stream: openResampler(inputHz, OUTPUT_HZ) };
    yield resampler ? resampler.stream.push(mono) : mono;
  }
  if (resampler) yield resampler.stream.flush();
}

function mixed({ channels }: DecodedAudio): Int16Array {
  const [first = new Float32Array(0)] = channels;
  const scale = 32_768 / Math.max(1, channels.length);
  return Int16Array.from(first, (_, i) => {
    let sum = 0;
    for (const channel of channels) sum += channel[i] ?? 0;
    return toInt16(sum * scale);
  });
}

async function next(): Promise<DecodeAnswer> {
  for (;;) {
    const step = await audio?.next();
    if (!step || step.done) return { type: 'end' };
    if (step.value.length > 0) return { type: 'audio', samples: step.value.slice() };
  }
}

function refusal(error: unknown): DecodeAnswer {
  if (error instanceof UndecodableAudio) return { type: 'refused', kind: error.kind, message: error.message };
  return { type: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

port.on('message', (job: DecodeJob) => {
  if (job.type === 'open') {
    audio = speechOf(job.file, job.options);
    return;
  }
  next()
    .catch(refusal)
    .then((answer) => {
      port.postMessage(answer, answer.type === 'audio' ? [answer.samples.buffer as ArrayBuffer] : []);
    });
});
