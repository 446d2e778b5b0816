import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { Failure } from '../../../../shared/errors.ts';
import type { Logger } from '../../../../shared/log.ts';
import { projectFile } from '../../../../shared/project-file.ts';
import { type Clock, withDeadline } from '../../../../shared/time.ts';
import { encodeHostFrame, type HeardMessage, type HostFrameKind, parseHostLine } from './host-protocol.ts';

const HOST_FILE = 'media-worker/asr/engines/pocketsphinx/pocketsphinx_host.py';
const START_DEADLINE_MS = 20_000;
const STOP_DEADLINE_MS = 1_000;
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;
/** Two minutes of one caller: a host that has not even read that is stuck. */
const MAX_UNREAD_BYTES = 4_000_000;
const ERROR_TAIL_CHARS = 2_000;

export type HostChild = ChildProcessByStdio<Writable, Readable, Readable>;

export interface RecogniserProcessDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** A Python that can import `pocketsphinx`. */
  readonly pythonPath: string;
  /** Starts the host; given here for tests. */
  readonly launch?: () => HostChild;
}

/** Who hears about one utterance. */
export interface UtteranceListener {
  readonly put: (message: HeardMessage) => void;
  readonly fail: (error: unknown) => void;
}

interface Host {
  readonly child: HostChild;
  readonly ready: Promise<void>;
  lastMessageMs: number;
}

/**
 * The side process that holds PocketSphinx. It ends when its standard input closes. After a crash every listener
 * fails and it is started again by itself, after 250 ms, then twice as long each time up to 30 s; an utterance
 * recognised makes the next crash the first again.
 */
export class RecogniserProcess {
  readonly #deps: RecogniserProcessDeps;
  readonly #listeners = new Map<number, UtteranceListener>();
  readonly #closed = new AbortController();
  #host: Host | null = null;
  #crashes = 0;
  #isBackingOff = false;

  constructor(deps: RecogniserProcessDeps) {
    this.#deps = deps;
  }

  /** Resolves when the process can listen. Throws `Failure('unavailable')`. */
  async start(): Promise<void> {
    if (this.#closed.signal.aborted) throw new Failure('unavailable', 'The recogniser is closed');
    if (this.#isBackingOff)
      throw new Failure(
        'unavailable',
        'The built-in recogniser failed and is started again, try again later',
      );
    this.#host ??= this.#launch();
    try {
      await this.#host.ready;
    } catch (cause) {
      throw new Failure('unavailable', 'The built-in recogniser could not be started', { cause });
    }
  }

  /** Sends a frame. False when the process is down or no longer reads; the frame is dropped then. */
  send(kind: HostFrameKind, session: number, utterance: number, samples?: Int16Array): boolean {
    const stdin = this.#host?.child.stdin;
    if (!stdin?.writable || stdin.writableLength > MAX_UNREAD_BYTES) return false;
    stdin.write(encodeHostFrame(kind, session, utterance, samples));
    return true;
  }

  /** Hears what comes back for an utterance, until `forget`. */
  listen(utterance: number, listener: UtteranceListener): void {
    this.#listeners.set(utterance, listener);
  }

  forget(utterance: number): void {
    this.#listeners.delete(utterance);
  }

  /** Kills a process that has said nothing for `silentMs`, so that a new one takes its place. */
  killIfSilent(silentMs: number): void {
    const host = this.#host;
    if (!host || this.#deps.clock.monotonicMs() - host.lastMessageMs < silentMs) return;
    host.child.kill('SIGKILL');
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const host = this.#host;
    if (!host) return;
    const { child } = host;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.stdin.end();
    const settled = new AbortController();
    await Promise.race([exited, this.#deps.clock.sleep(STOP_DEADLINE_MS, settled.signal)]);
    settled.abort();
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  }

  #launch(): Host {
    const { clock, pythonPath } = this.#deps;
    const child = (this.#deps.launch ?? (() => launchHost(pythonPath)))();
    let hasExited = false;
    let errorTail = '';
    const isReady = new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => this.#hear(host, line, resolve));
      child.stderr.on('data', (chunk: Buffer) => {
        errorTail = (errorTail + chunk.toString('utf8')).slice(-ERROR_TAIL_CHARS);
      });
      const gone = (reason: string) => {
        if (hasExited) return;
        hasExited = true;
        reject(new Error(`the recogniser process ended with ${reason}`));
        this.#restart(host, reason, errorTail);
      };
      child.on('error', (error) => gone(error.message));
      child.on('exit', (code, signal) => gone(String(code ?? signal)));
      child.stdin.on('error', () => {});
    });
    const ready = withDeadline(clock, 'the recogniser process', START_DEADLINE_MS, isReady);
    ready.catch(() => child.kill('SIGKILL'));
    const host: Host = { child, ready, lastMessageMs: clock.monotonicMs() };
    return host;
  }

  #hear(host: Host, line: string, onReady: () => void): void {
    const message = parseHostLine(line);
    host.lastMessageMs = this.#deps.clock.monotonicMs();
    if (message?.type === 'ready') onReady();
    if (message?.type === 'partial' || message?.type === 'final')
      this.#listeners.get(message.utterance)?.put(message);
    if (message?.type === 'final') this.#crashes = 0;
    if (message?.type !== 'failed') return;
    const cause = new Error(message.message);
    this.#listeners
      .get(message.utterance)
      ?.fail(new Failure('upstream_failed', 'The recogniser could not follow the caller', { cause }));
  }

  #restart(host: Host, reason: string, errorTail: string): void {
    if (this.#host !== host) return;
    this.#host = null;
    for (const listener of this.#listeners.values())
      listener.fail(new Failure('upstream_failed', 'The recogniser failed and is started again'));
    if (this.#closed.signal.aborted) return;
    const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#crashes++);
    this.#deps.log.warn(
      { reason, errorTail, backoffMs },
      'recogniser process ended and will be started again',
    );
    this.#isBackingOff = true;
    void this.#deps.clock.sleep(backoffMs, this.#closed.signal).then(() => {
      this.#isBackingOff = false;
      if (!this.#closed.signal.aborted) this.#host ??= this.#launch();
    });
  }
}

function launchHost(pythonPath: string): HostChild {
  // No environment: the process needs nothing, settings hold secrets. The source may lie on a read-only disk.
  return spawn(pythonPath, [projectFile(HOST_FILE)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  });
}
