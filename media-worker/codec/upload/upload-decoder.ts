import { Worker } from 'node:worker_threads';
import { Failure, invalidField } from '../../../shared/errors.ts';
import { threadEntry } from '../../../shared/thread-entry.ts';
import { type Clock, withDeadline } from '../../../shared/time.ts';
import type { DecodeAnswer, DecodeJob } from './decode-protocol.ts';

/** A step decodes a second or so of audio; the first one starts the thread as well. */
const STEP_DEADLINE_MS = 60_000;
const RETRY_AFTER_S = 2;
/** Of the thread's own heap; audio buffers lie outside of it and are small by the way files are fed. */
const MAX_HEAP_MB = 128;

export const UPLOAD_RATE_HZ = 16_000;

export interface UploadDecoderOptions {
  /** Path or name of ffmpeg. */
  readonly ffmpeg: string;
  readonly maxSeconds: number;
  /** Files that are decoded at once; more are refused. */
  readonly maxAtOnce: number;
}

/** Decodes uploads, each in a thread of its own that ends with it, so that a file can harm nobody else. */
export class UploadDecoder {
  readonly #options: UploadDecoderOptions;
  readonly #clock: Clock;
  readonly #threads = new Set<Worker>();

  constructor(options: UploadDecoderOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /**
   * The file as mono PCM at 16 kHz, in pieces of about a second. `file` is taken over. Throws `Failure`: 415 for a
   * format nobody here reads, 422 for audio that is broken or too long, 503 when too many are being decoded.
   */
  async *decode(file: Uint8Array): AsyncGenerator<Int16Array> {
    const { ffmpeg, maxSeconds, maxAtOnce } = this.#options;
    if (this.#threads.size >= maxAtOnce)
      throw new Failure('unavailable', 'Too many uploads are being decoded', { retryAfterS: RETRY_AFTER_S });
    const thread = launch();
    this.#threads.add(thread);
    let samples = 0;
    try {
      const own = file.byteLength === file.buffer.byteLength ? file : file.slice();
      tell(thread, { type: 'open', file: own, options: { ffmpeg, maxSeconds } }, [own.buffer as ArrayBuffer]);
      for (;;) {
        const answer = await withDeadline(this.#clock, 'decoding', STEP_DEADLINE_MS, ask(thread));
        const piece = audioOf(answer);
        if (!piece) return;
        samples += piece.length;
        if (samples > maxSeconds * UPLOAD_RATE_HZ)
          throw invalidField(['body', 'audio'], `audio is longer than ${maxSeconds} seconds`);
        yield piece;
      }
    } finally {
      this.#threads.delete(thread);
      await thread.terminate();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }
}

function audioOf(answer: DecodeAnswer): Int16Array | null {
  switch (answer.type) {
    case 'audio':
      return answer.samples;
    case 'end':
      return null;
    case 'refused':
      if (answer.kind === 'unknown_format') throw new Failure('unsupported_media_type', answer.message);
      throw invalidField(['body', 'audio'], answer.message);
    case 'failed':
      throw invalidField(['body', 'audio'], 'the audio can not be decoded', {});
  }
}

function launch(): Worker {
  const { url, execArgv } = threadEntry(import.meta.url, 'decode-thread');
  // Next to nothing of an environment: settings hold secrets. Opus' native addon crashes the process when a thread
  // that loaded it ends; its WebAssembly twin doesn't.
  const thread = new Worker(url, {
    execArgv,
    name: 'decode',
    env: { OPUS_FORCE_WASM: '1' },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  // Whoever asks next finds out; unheard, it would end the process.
  thread.on('error', () => {});
  return thread;
}

function tell(thread: Worker, job: DecodeJob, transfer: ArrayBuffer[] = []): void {
  thread.postMessage(job, transfer);
}

/** The answer to one `next`. Rejects when the thread dies of the file. */
function ask(thread: Worker): Promise<DecodeAnswer> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      thread.off('message', onMessage);
      thread.off('error', onError);
      thread.off('exit', onExit);
    };
    const onMessage = (answer: DecodeAnswer) => {
      stop();
      resolve(answer);
    };
    const onError = () => {
      stop();
      resolve({ type: 'failed', message: 'the thread failed' });
    };
    const onExit = () => {
      stop();
      reject(new Failure('unavailable', 'Decoding was stopped'));
    };
    thread.on('message', onMessage);
    thread.on('error', onError);
    thread.on('exit', onExit);
    tell(thread, { type: 'next' });
  });
}
