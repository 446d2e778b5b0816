import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Clock } from '../shared/time.ts';

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 10_000;
/** A process that lived this long starts over with the shortest backoff. */
const STEADY_MS = 30_000;
const STOP_DEADLINE_MS = 15_000;

export interface SupervisedProcessDeps {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly say: (line: string) => void;
}

/** The process ended before it was ever ready: its own message is on standard error. */
export class StartFailed extends Error {
  constructor(name: string, code: number | null) {
    super(`${name} did not start (exit code ${code ?? 'none'})`);
    this.name = 'StartFailed';
  }
}

/**
 * One child process that says when it is ready by a JSON line on standard output, is started again with backoff when
 * it dies, and ends when this process does: its standard input is a pipe whose end it takes as the order to stop.
 */
export class SupervisedProcess {
  readonly #deps: SupervisedProcessDeps;
  readonly #stop = new AbortController();
  #child: ChildProcess | null = null;
  #watching: Promise<void> = Promise.resolve();

  constructor(deps: SupervisedProcessDeps) {
    this.#deps = deps;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Starts it and resolves with its first JSON line. Throws `StartFailed` when it ends before that. */
  async start(): Promise<unknown> {
    const startedMs = this.#deps.clock.monotonicMs();
    const ready = await this.#spawn();
    this.#watching = this.#watch(startedMs);
    return ready;
  }

  /** Closes its standard input, waits, and ends it by force past 15 s. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.stdin?.end();
      const patience = new AbortController();
      void this.#deps.clock.sleep(STOP_DEADLINE_MS, patience.signal).then(() => {
        if (!patience.signal.aborted) child.kill('SIGKILL');
      });
      await gone;
      patience.abort();
    }
    await this.#watching;
  }

  async #spawn(): Promise<unknown> {
    const { command, args, env } = this.#deps;
    const child = spawn(command, args, {
      env: { ...env, PARLEY_STDIN_GUARD: '1' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child = child;
    // A child that ends breaks the pipe; its exit is what counts.
    child.stdin.on('error', () => {});
    const lines = createInterface({ input: child.stdout });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new StartFailed(this.#deps.name, code)));
      lines.on('line', (line) => {
        const message = parseLine(line);
        if (message) resolve(message);
      });
    });
  }

  async #watch(startedMs: number): Promise<void> {
    const { clock, name, say } = this.#deps;
    let upSinceMs = startedMs;
    let backoffMs = FIRST_BACKOFF_MS;
    while (!this.#stop.signal.aborted) {
      const child = this.#child;
      if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      if (this.#stop.signal.aborted) return;
      if (clock.monotonicMs() - upSinceMs > STEADY_MS) backoffMs = FIRST_BACKOFF_MS;
      say(`${name} ended unexpectedly; starting it again in ${backoffMs} ms`);
      await clock.sleep(backoffMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS);
      upSinceMs = clock.monotonicMs();
      await this.#spawn().then(
        () => say(`${name} is back`),
        () => {},
      );
    }
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
