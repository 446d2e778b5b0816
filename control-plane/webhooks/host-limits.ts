import type { Clock } from '../../shared/time.ts';

/** Endpoints of one host that are served at once; fewer while it fails, so that many dead hosts leave room for others. */
const HOST_MAX = 50;
const FAILING_HOST_MAX = 10;
/** The shortest and the longest time until one that was refused is looked at again. */
const MIN_DELAY_MS = 500;
const MAX_DELAY_MS = 60_000;
const FIRST_GUESS_MS = 500;
/** Failing hosts that are remembered; the oldest is forgotten and gets its full share again. */
const MAX_HOSTS = 10_000;

interface HostLoad {
  inWork: number;
  isFailing: boolean;
  /** Running mean of how long one endpoint takes. */
  meanMs: number;
  /** When those that were refused so far will have had their turn. */
  freeAtMs: number;
}

/**
 * How much of this process one host may take. Those it refuses get times of their own, as far apart as the host is
 * slow, so that a long queue of a dead host costs one look each and not a look per second.
 */
export class HostLimits {
  readonly #clock: Clock;
  readonly #hosts = new Map<string, HostLoad>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Null: go ahead, and call `leave` afterwards. Else the time (ms since 1970) to try again. */
  enter(host: string): number | null {
    const load = this.#load(host);
    const limit = limitOf(load);
    if (load.inWork < limit) {
      load.inWork++;
      return null;
    }
    const nowMs = this.#clock.nowMs();
    load.freeAtMs = Math.max(load.freeAtMs, nowMs + MIN_DELAY_MS) + load.meanMs / limit;
    load.freeAtMs = Math.min(load.freeAtMs, nowMs + MAX_DELAY_MS);
    return Math.round(load.freeAtMs);
  }

  leave(host: string, isFailing: boolean, tookMs: number): void {
    const load = this.#load(host);
    load.inWork--;
    load.isFailing = isFailing;
    load.meanMs = load.meanMs * 0.8 + tookMs * 0.2;
    if (load.inWork > 0 || isFailing || load.freeAtMs > this.#clock.nowMs()) return;
    this.#hosts.delete(host);
  }

  #load(host: string): HostLoad {
    const known = this.#hosts.get(host);
    if (known) return known;
    const load = { inWork: 0, isFailing: false, meanMs: FIRST_GUESS_MS, freeAtMs: 0 };
    this.#hosts.set(host, load);
    this.#forgetOldest();
    return load;
  }

  #forgetOldest(): void {
    if (this.#hosts.size <= MAX_HOSTS) return;
    for (const [host, { inWork }] of this.#hosts) {
      if (inWork > 0) continue;
      this.#hosts.delete(host);
      return;
    }
  }
}

function limitOf({ isFailing }: HostLoad): number {
  return isFailing ? FAILING_HOST_MAX : HOST_MAX;
}
