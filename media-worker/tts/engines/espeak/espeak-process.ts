import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Failure } from '../../../../shared/errors.ts';
import type { Logger } from '../../../../shared/log.ts';
import { threadEntry } from '../../../../shared/thread-entry.ts';
import { type Clock, withDeadline } from '../../../../shared/time.ts';
import type { EspeakAnswer, EspeakJob, TextMoment } from './espeak-protocol.ts';
import { encodeFrame, type Frame, FrameReader } from './frames.ts';

const START_DEADLINE_MS = 20_000;
const JOB_DEADLINE_MS = 10_000;
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;

export interface EspeakProcessDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Starts the host with piped standard input and output; given here for tests. */
  readonly launch?: () => ChildProcess;
}

export interface EspeakSpeech {
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
  readonly moments: readonly TextMoment[];
}

interface Host {
  readonly child: ChildProcess;
  readonly reader: FrameReader;
  /** Who waits for the next frame. */
  waiter: { resolve: (frame: Frame) => void; reject: (error: Error) => void } | null;
}

/**
 * The side process that holds espeak-ng. It is started when it is needed, takes one job at a time, and ends when
 * its standard input closes. After a crash the next start waits 250 ms, then twice as long each time up to 30 s;
 * jobs within that time are refused at once. A sentence spoken makes the next crash the first again.
 */
export class EspeakProcess {
  readonly #deps: EspeakProcessDeps;
  #host: Promise<Host> | null = null;
  #crashes = 0;
  #notBeforeMs = 0;
  #isClosed = false;

  constructor(deps: EspeakProcessDeps) {
    this.#deps = deps;
  }

  /** Resolves when the process can speak. */
  async start(): Promise<void> {
    await this.#running();
  }

  /** Throws `Failure('upstream_failed')`. */
  async speak(job: EspeakJob): Promise<EspeakSpeech> {
    let frame: Frame;
    try {
      const host = await this.#running();
      const answered = nextFrame(host);
      host.child.stdin?.write(encodeFrame(job));
      frame = await withDeadline(this.#deps.clock, 'espeak-ng', JOB_DEADLINE_MS, answered);
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      await this.#discard(cause);
      throw new Failure('upstream_failed', 'The voice for this language failed and is started again', {
        cause,
      });
    }
    this.#crashes = 0;
    return toSpeech(frame);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const host = await this.#host?.catch(() => null);
    this.#host = null;
    if (host) await end(host.child, this.#deps.clock);
  }

  #running(): Promise<Host> {
    if (this.#isClosed) return Promise.reject(new Failure('unavailable', 'The voice is closed'));
    if (!this.#host && this.#deps.clock.monotonicMs() < this.#notBeforeMs)
      return Promise.reject(
        new Failure('upstream_failed', 'The voice for this language failed, try again later'),
      );
    this.#host ??= this.#launch();
    return this.#host;
  }

  async #launch(): Promise<Host> {
    const child = (this.#deps.launch ?? launchHost)();
    const host: Host = { child, reader: new FrameReader(), waiter: null };
    const fail = (error: Error) => {
      host.waiter?.reject(error);
      host.waiter = null;
    };
    child.on('error', fail);
    child.stdin?.on('error', fail);
    child.on('exit', (code) => {
      fail(new Error(`the espeak-ng process ended with ${code}`));
      void this.#discard(`exit ${code}`, host);
    });
    child.stdout?.on('data', (chunk: Buffer) => deliver(host, chunk, fail));
    try {
      await withDeadline(this.#deps.clock, 'espeak-ng', START_DEADLINE_MS, nextFrame(host));
      return host;
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  /** Forgets the process after a failure. With `only`, just if it is still the one in use. */
  async #discard(cause: unknown, only?: Host): Promise<void> {
    const current = this.#host;
    if (this.#isClosed || !current) return;
    const host = await current.catch(() => null);
    if ((only && host !== only) || this.#host !== current) return;
    this.#host = null;
    host?.child.kill('SIGKILL');
    const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#crashes++);
    this.#notBeforeMs = this.#deps.clock.monotonicMs() + backoffMs;
    this.#deps.log.warn({ err: cause, backoffMs }, 'espeak-ng process failed and will be started again');
  }
}

function launchHost(): ChildProcess {
  const { url, execArgv } = threadEntry(import.meta.url, 'espeak-host');
  // An empty environment: the process needs nothing, and settings hold secrets.
  return spawn(process.execPath, [...execArgv, fileURLToPath(url)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {},
  });
}

function deliver(host: Host, chunk: Buffer, fail: (error: Error) => void): void {
  try {
    for (const frame of host.reader.push(chunk)) {
      host.waiter?.resolve(frame);
      host.waiter = null;
    }
  } catch (error) {
    fail(error instanceof Error ? error : new Error(String(error)));
  }
}

function nextFrame(host: Host): Promise<Frame> {
  return new Promise((resolve, reject) => {
    host.waiter = { resolve, reject };
  });
}

function toSpeech(frame: Frame): EspeakSpeech {
  const answer = frame.json as EspeakAnswer;
  if (answer.type !== 'speech') {
    const cause = answer.type === 'failed' ? answer.message : answer.type;
    throw new Failure('upstream_failed', 'The voice for this language could not speak this', { cause });
  }
  const { bytes } = frame;
  const samples = new Int16Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / 2));
  return { samples, sampleRateHz: answer.sampleRateHz, moments: answer.moments };
}

/** Closes standard input, which ends the host; kills it when that doesn't help. */
async function end(child: ChildProcess, clock: Clock): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.stdin?.end();
  const settled = new AbortController();
  await Promise.race([exited, clock.sleep(1_000, settled.signal)]);
  settled.abort();
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
}
