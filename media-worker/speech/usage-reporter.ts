import { newId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';

/** What one request used, once. */
export interface SpeechUsage {
  /** The same usage is settled once, however often it is reported. */
  readonly usageId: string;
  readonly workspaceId: string;
  readonly kind: 'tts' | 'asr';
  readonly model: string;
  /** UTF-8 bytes of text that was spoken, or seconds of audio that were heard, whole. */
  readonly quantity: number;
  /** ms since 1970. */
  readonly atMs: number;
}

export interface UsageReporterDeps {
  /** Resolves when it is settled. */
  readonly report: (usage: readonly SpeechUsage[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

const BATCH = 100;
/** What waits while no control plane answers; past it the oldest is given up, and said so. */
const MAX_WAITING = 100_000;
const GATHER_MS = 250;
const RETRY_MS = 2_000;

/** Brings usage to the control plane: gathered, in order, again until it is settled. It never holds a request up. */
export class UsageReporter {
  readonly #deps: UsageReporterDeps;
  #waiting: SpeechUsage[] = [];
  #running: Promise<void> | null = null;
  #hurry = new AbortController();
  #isStopping = false;

  constructor(deps: UsageReporterDeps) {
    this.#deps = deps;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  add(usage: Omit<SpeechUsage, 'usageId' | 'atMs'>): void {
    if (usage.quantity <= 0) return;
    this.#waiting.push({ ...usage, usageId: newId(), atMs: this.#deps.clock.nowMs() });
    if (this.#waiting.length > MAX_WAITING) {
      this.#waiting.shift();
      this.#deps.log.error({ waiting: MAX_WAITING }, 'usage is lost: no control plane takes it');
    }
    this.#running ??= this.#run();
  }

  /** Sends what waits; what isn't settled by then is lost, and said so. */
  async stop(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    this.#hurry.abort();
    const { clock, log } = this.#deps;
    await Promise.race([this.#running, clock.sleep(deadlineMs)]);
    if (this.#waiting.length > 0) log.error({ count: this.#waiting.length }, 'usage was not settled');
  }

  async #run(): Promise<void> {
    const { clock, log, report } = this.#deps;
    await clock.sleep(GATHER_MS, this.#hurry.signal);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      try {
        await report(batch);
        const settled = new Set(batch);
        this.#waiting = this.#waiting.filter((usage) => !settled.has(usage));
      } catch (err) {
        log.warn({ err, waiting: this.#waiting.length }, 'usage not settled; it is reported again');
        if (this.#isStopping) break;
        await clock.sleep(RETRY_MS, this.#hurry.signal);
      }
    }
    this.#running = null;
  }
}
