import type { Logger } from './log.ts';
import type { Clock } from './time.ts';

export interface WorkSource<T> {
  /** Names the work in the log. */
  readonly name: string;
  /** The next piece, held for this process; null when there is none now. */
  readonly claim: () => Promise<T | null>;
  /** Does it. `stopping` asks to come to an end soon. A piece that rejects is logged: its lease brings it back. */
  readonly run: (item: T, stopping: AbortSignal) => Promise<void>;
  readonly maxAtOnce: number;
  /** Pause after nothing was found, unless poked. */
  readonly restMs: number;
}

/** Claims and does work, several pieces at once, as long as there is some; then rests. */
export class WorkLoop<T> {
  readonly #source: WorkSource<T>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #running = new Set<Promise<void>>();
  #isPoked = false;
  #rest = new AbortController();

  constructor(source: WorkSource<T>, deps: { readonly clock: Clock; readonly log: Logger }) {
    this.#source = source;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** There may be work: looks at once. */
  poke(): void {
    this.#isPoked = true;
    this.#rest.abort();
  }

  /** Works until `stopping` aborts; resolves when what it had begun is done. */
  async run(stopping: AbortSignal): Promise<void> {
    const wake = () => this.poke();
    stopping.addEventListener('abort', wake, { once: true });
    while (!stopping.aborted) {
      if (this.#running.size >= this.#source.maxAtOnce) {
        await Promise.race(this.#running);
        continue;
      }
      this.#isPoked = false;
      const item = await this.#claim();
      if (item === null) await this.#pause();
      else this.#start(item, stopping);
    }
    stopping.removeEventListener('abort', wake);
    await Promise.all(this.#running);
  }

  async #claim(): Promise<T | null> {
    try {
      return await this.#source.claim();
    } catch (err) {
      this.#log.warn({ err, work: this.#source.name }, 'work could not be claimed and will be tried again');
      return null;
    }
  }

  #start(item: T, stopping: AbortSignal): void {
    const done = this.#source
      .run(item, stopping)
      .catch((err) => {
        this.#log.warn({ err, work: this.#source.name }, 'work was not finished and will be taken up again');
      })
      .finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  async #pause(): Promise<void> {
    if (this.#isPoked) return;
    this.#rest = new AbortController();
    await this.#clock.sleep(this.#source.restMs, this.#rest.signal);
  }
}
