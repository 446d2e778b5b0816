import { parentPort } from 'node:worker_threads';
import type { CodecAnswer, CodecJob } from './codec-protocol.ts';
import { EncodingChain } from './encoding-chain.ts';
import { loadMp3Encoders } from './mp3.ts';
import { loadResampler } from './resample.ts';

/** Idle MP3 encoders that are kept, at 1.5 MB each, and those that are made before anybody asks. */
const SPARE_MP3_ENCODERS = 16;
const PREPARED_MP3_ENCODERS = 4;

const port = parentPort;
if (!port) throw new Error('codec-thread is started as a worker thread');

const [openResampler, mp3] = await Promise.all([loadResampler(), loadMp3Encoders(SPARE_MP3_ENCODERS)]);
await mp3.prepare();
const chains = new Map<number, EncodingChain>();
/** Streams of which a listener hears nothing yet, or nothing more: their next audio goes first. */
const silent = new Set<number>();
const urgent: CodecJob[] = [];
const waiting: CodecJob[] = [];
let isWorking = false;

function answer(message: CodecAnswer): void {
  const transfer = message.type === 'bytes' ? [message.bytes.buffer as ArrayBuffer] : [];
  port?.postMessage(message, transfer);
}

async function perform(job: CodecJob): Promise<void> {
  switch (job.type) {
    case 'open':
      if (job.options.format.codec === 'mp3') await mp3.prepare();
      chains.set(job.stream, new EncodingChain(job.options, openResampler, mp3));
      return;
    case 'close':
      chains.get(job.stream)?.close();
      chains.delete(job.stream);
      silent.delete(job.stream);
      return;
    default:
      return answer({ type: 'bytes', job: job.job, bytes: encode(job) });
  }
}

function encode(job: Extract<CodecJob, { job: number }>): Uint8Array {
  const chain = chains.get(job.stream);
  if (!chain) throw new Error('the stream is not open');
  switch (job.type) {
    case 'push':
      return ownBytes(chain.push(job.samples, job.sampleRateHz));
    case 'settle':
      return ownBytes(chain.settle());
    case 'finish':
      return ownBytes(chain.finish());
  }
}

/** Only a whole buffer of its own can be handed to another thread. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength && bytes.byteLength > 0 ? bytes : bytes.slice();
}

/** A stream has one job under way at a time, so that this never changes the order within it. */
function queueOf(job: CodecJob): CodecJob[] {
  if (job.type === 'open' || job.type === 'settle') silent.add(job.stream);
  if (job.type === 'open') return urgent;
  return job.type === 'push' && silent.delete(job.stream) ? urgent : waiting;
}

/** One job, then those that came meanwhile are looked at again. */
async function work(): Promise<void> {
  const job = urgent.shift() ?? waiting.shift();
  if (!job) {
    if (await mp3.prepare(PREPARED_MP3_ENCODERS)) return workLater();
    // Something may have come while that was made.
    isWorking = urgent.length + waiting.length > 0;
    if (isWorking) workLater();
    return;
  }
  await perform(job).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    if ('job' in job) answer({ type: 'failed', job: job.job, message });
  });
  workLater();
}

function workLater(): void {
  setImmediate(() => void work());
}

port.on('message', (job: CodecJob) => {
  queueOf(job).push(job);
  if (!isWorking) workLater();
  isWorking = true;
});
answer({ type: 'ready' });
