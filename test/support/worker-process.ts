import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Answer, Handlers, Question } from './worker-process-side.ts';

const STOP_LIMIT_MS = 3_000;
const ASK_LIMIT_MS = 60_000;

/**
 * A Node process beside this one that answers questions: its CPU and its memory are its own, so that they can be
 * measured, and it ends when this process does. `H` are the handlers that its module serves.
 */
export class WorkerProcess<H extends Handlers> {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #asked = 0;

  /** Starts the module at `url` (of the source or of `dist/`), with the flags of this process. */
  constructor(url: URL) {
    this.#child = fork(url, [], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.#child.on('message', (answer: Answer) => {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    this.#child.once('exit', (code, signal) => this.#failAll(`ended with ${signal ?? code}`));
    this.#child.once('error', (cause) => this.#failAll(cause.message));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Rejects with what the handler threw, when the process has ended, or when no answer came within `limitMs`. */
  async ask<K extends keyof H & string>(
    name: K,
    input: Parameters<H[K]>[0],
    limitMs = ASK_LIMIT_MS,
  ): Promise<Awaited<ReturnType<H[K]>>> {
    if (!this.#child.connected) throw new Error(`${name}: the process has ended`);
    const id = ++this.#asked;
    const tooLate = setTimeout(() => this.#settle({ id, error: `no answer within ${limitMs} ms` }), limitMs);
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    const question: Question = { id, name, input };
    this.#child.send(question);
    const answer = await answered;
    clearTimeout(tooLate);
    if ('error' in answer) throw new Error(`${name}: ${answer.error}`);
    return answer.value as Awaited<ReturnType<H[K]>>;
  }

  /** Closes the channel, at which the process ends by itself; after 3 s it is killed. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    const killer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS);
    if (this.#child.connected) this.#child.disconnect();
    await ended;
    clearTimeout(killer);
  }

  #settle(answer: Answer): void {
    this.#waiting.get(answer.id)?.(answer);
    this.#waiting.delete(answer.id);
  }

  #failAll(error: string): void {
    for (const id of [...this.#waiting.keys()]) this.#settle({ id, error: `the process ${error}` });
  }
}
