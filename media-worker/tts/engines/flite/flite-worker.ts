import { Worker } from 'node:worker_threads';
import { Failure } from '../../../../shared/errors.ts';
import type { Logger } from '../../../../shared/log.ts';
import { threadEntry } from '../../../../shared/thread-entry.ts';
import { type Clock, withDeadline } from '../../../../shared/time.ts';
import type { FliteAnswer, FliteJob } from './flite-protocol.ts';
import type { SpokenPiece } from './flite-speaker.ts';

const START_DEADLINE_MS = 20_000;
const JOB_DEADLINE_MS = 10_000;

export interface FliteWorkerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Starts the thread; given here for tests. */
  readonly launch?: () => Worker;
}

/**
 * The worker thread that runs Flite. It takes one job at a time (the caller sees to that). A thread that dies or
 * hangs fails its job and is replaced when the next one comes.
 */
export class FliteWorker {
  readonly #deps: FliteWorkerDeps;
  #worker: Promise<Worker> | null = null;
  #isClosed = false;

  constructor(deps: FliteWorkerDeps) {
    this.#deps = deps;
  }

  /** Starts the thread unless it runs; resolves when it can speak. */
  async start(): Promise<Worker> {
    if (this.#isClosed) throw new Failure('unavailable', 'The built-in voice is closed');
    this.#worker ??= this.#launch();
    return this.#worker;
  }

  /** Throws `Failure('upstream_failed')` when Flite can't speak the piece. */
  async speak(job: FliteJob): Promise<SpokenPiece> {
    let answer: FliteAnswer;
    try {
      const worker = await this.start();
      const answered = nextAnswer(worker);
      worker.postMessage(job);
      answer = await withDeadline(this.#deps.clock, 'Flite', JOB_DEADLINE_MS, answered);
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      await this.#discardThread(cause);
      throw new Failure('upstream_failed', 'The built-in voice failed and is started again', { cause });
    }
    if (answer.type === 'speech') return answer;
    throw new Failure('upstream_failed', 'The built-in voice could not speak this', {
      cause: answer.type === 'failed' ? answer.message : answer.type,
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#worker?.catch(() => null))?.terminate();
    this.#worker = null;
  }

  async #discardThread(cause: unknown): Promise<void> {
    if (this.#isClosed) return;
    this.#deps.log.warn({ err: cause }, 'flite thread failed and is replaced');
    const worker = this.#worker;
    this.#worker = null;
    await (await worker?.catch(() => null))?.terminate();
  }

  /** Makes the next job start a new thread, unless another one has taken the place of this one. */
  #forget(worker: Worker): void {
    const current = this.#worker;
    const forget = (running: Worker) => {
      if (running === worker && this.#worker === current) this.#worker = null;
    };
    current?.then(forget, () => {});
  }

  async #launch(): Promise<Worker> {
    const worker = (this.#deps.launch ?? launchThread)();
    // A death between two jobs is found by the next one; without a listener it would end the process.
    worker.on('error', () => {});
    worker.once('exit', () => this.#forget(worker));
    try {
      await withDeadline(this.#deps.clock, 'Flite', START_DEADLINE_MS, nextAnswer(worker));
      // An idle thread doesn't keep the process alive.
      worker.unref();
      return worker;
    } catch (error) {
      this.#worker = null;
      await worker.terminate();
      throw error;
    }
  }
}

function launchThread(): Worker {
  const { url, execArgv } = threadEntry(import.meta.url, 'flite-thread');
  // An empty environment: the thread needs nothing, and settings hold secrets.
  return new Worker(url, { execArgv, name: 'flite', env: {} });
}

/** The thread's next message; fails when it dies first. */
function nextAnswer(worker: Worker): Promise<FliteAnswer> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      worker.off('exit', onExit);
    };
    const onMessage = (answer: FliteAnswer) => {
      stop();
      resolve(answer);
    };
    const onError = (error: unknown) => {
      stop();
      reject(error);
    };
    const onExit = (code: number) => {
      stop();
      reject(new Error(`the flite thread ended with ${code}`));
    };
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.on('exit', onExit);
  });
}
