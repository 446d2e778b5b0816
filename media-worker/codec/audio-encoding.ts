import { Worker } from 'node:worker_threads';
import { Failure } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { threadEntry } from '../../shared/thread-entry.ts';
import { type Clock, DeadlineExceeded, withDeadline } from '../../shared/time.ts';
import type { CodecAnswer, CodecJob } from './codec-protocol.ts';
import type { ChainOptions } from './encoding-chain.ts';

const START_DEADLINE_MS = 20_000;
/** A job takes a few ms; the thread may have a queue of other streams' jobs. */
const JOB_DEADLINE_MS = 10_000;

/** One stream being encoded. Calls are answered in order; the samples given away must not be touched again. */
export interface AudioEncoding {
  /** At most a second of samples. Throws `Failure('unavailable')` when the encoder is lost. */
  push(samples: Int16Array, sampleRateHz: number): Promise<Uint8Array>;
  /** Everything pushed so far, filled up with silence where the codec needs it; the stream may go on. */
  settle(): Promise<Uint8Array>;
  finish(): Promise<Uint8Array>;
  /** Frees the stream, finished or not. Safe to call twice. */
  close(): void;
}

export interface AudioEncoders {
  /** Starts the thread, so that the first stream doesn't wait for it. */
  prewarm(): Promise<void>;
  open(options: Omit<ChainOptions, 'serial'>): AudioEncoding;
  close(): Promise<void>;
}

export interface AudioEncodersDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

interface Waiting {
  resolve(bytes: Uint8Array): void;
  reject(error: unknown): void;
}

/**
 * Encodes in a thread of its own, so that no codec ever holds up the audio loop. A thread that dies or hangs fails
 * the streams it had; the next stream starts another.
 */
export class ThreadedEncoders implements AudioEncoders {
  readonly #deps: AudioEncodersDeps;
  #thread: EncoderThread | null = null;
  #isClosed = false;
  #streams = 0;

  constructor(deps: AudioEncodersDeps) {
    this.#deps = deps;
  }

  async prewarm(): Promise<void> {
    const { clock } = this.#deps;
    await withDeadline(clock, 'the codec thread', START_DEADLINE_MS, this.#running().ready);
  }

  open(options: Omit<ChainOptions, 'serial'>): AudioEncoding {
    const thread = this.#running();
    const stream = ++this.#streams;
    const { clock } = this.#deps;
    let isClosed = false;
    thread.tell({ type: 'open', stream, options: { ...options, serial: stream } });

    async function run(make: (job: number) => CodecJob, transfer: ArrayBuffer[] = []): Promise<Uint8Array> {
      try {
        return await withDeadline(clock, 'the codec thread', JOB_DEADLINE_MS, thread.ask(make, transfer));
      } catch (cause) {
        if (cause instanceof DeadlineExceeded) void thread.terminate();
        throw new Failure('unavailable', 'The encoder failed', { cause, retryAfterS: 1 });
      }
    }

    return {
      push: (samples, sampleRateHz) => {
        // A view would drag the rest of its buffer along.
        const own = samples.byteLength === samples.buffer.byteLength ? samples : samples.slice();
        return run(
          (job) => ({ type: 'push', job, stream, samples: own, sampleRateHz }),
          [own.buffer as ArrayBuffer],
        );
      },
      settle: () => run((job) => ({ type: 'settle', job, stream })),
      finish: () => run((job) => ({ type: 'finish', job, stream })),
      close: () => {
        if (!isClosed) thread.tell({ type: 'close', stream });
        isClosed = true;
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.terminate();
  }

  #running(): EncoderThread {
    if (this.#isClosed) throw new Failure('unavailable', 'The encoder is closed');
    if (!this.#thread || this.#thread.isDead) this.#thread = new EncoderThread(this.#deps.log);
    return this.#thread;
  }
}

class EncoderThread {
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #jobs = 0;
  #isDead = false;

  constructor(log: Logger) {
    const { url, execArgv } = threadEntry(import.meta.url, 'codec-thread');
    // Next to nothing of an environment: settings hold secrets. Opus' native addon crashes the process when a
    // thread that loaded it ends; its WebAssembly twin doesn't.
    this.#worker = new Worker(url, { execArgv, name: 'codec', env: { OPUS_FORCE_WASM: '1' } });
    this.ready = new Promise((resolve, reject) => {
      this.#worker.on('message', (answer: CodecAnswer) => {
        if (answer.type === 'ready') {
          // An idle thread doesn't keep the process alive.
          this.#worker.unref();
          resolve();
        } else this.#settle(answer);
      });
      this.#worker.on('error', (err) => {
        log.warn({ err }, 'codec thread failed');
        reject(err);
      });
      this.#worker.on('exit', (code) => {
        this.#die(new Error(`the codec thread ended with ${code}`));
        reject(new Error(`the codec thread ended with ${code}`));
      });
    });
    this.ready.catch(() => {});
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  tell(job: CodecJob, transfer: ArrayBuffer[] = []): void {
    if (!this.#isDead) this.#worker.postMessage(job, transfer);
  }

  ask(make: (job: number) => CodecJob, transfer: ArrayBuffer[]): Promise<Uint8Array> {
    if (this.#isDead) return Promise.reject(new Error('the codec thread is gone'));
    const job = ++this.#jobs;
    return new Promise((resolve, reject) => {
      this.#waiting.set(job, { resolve, reject });
      this.tell(make(job), transfer);
    });
  }

  async terminate(): Promise<void> {
    this.#die(new Error('the codec thread was stopped'));
    await this.#worker.terminate();
  }

  #settle(answer: Exclude<CodecAnswer, { type: 'ready' }>): void {
    const waiting = this.#waiting.get(answer.job);
    this.#waiting.delete(answer.job);
    if (answer.type === 'bytes') waiting?.resolve(answer.bytes);
    else waiting?.reject(new Error(answer.message));
  }

  #die(error: Error): void {
    this.#isDead = true;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
