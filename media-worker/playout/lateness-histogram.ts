const BUCKET_MS = 0.5;
const BUCKETS = 400;

/** Lateness of ticks in half-millisecond steps up to 200 ms; later ones fall into the last step. */
export class LatenessHistogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;

  add(latenessMs: number): void {
    const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.floor(latenessMs / BUCKET_MS)));
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total++;
  }

  /** Upper edge, in ms, of the step that holds the quantile; 0 before the first tick. */
  quantileMs(quantile: number): number {
    let seen = 0;
    const wanted = quantile * this.#total;
    for (let i = 0; i < BUCKETS; i++) {
      seen += this.#counts[i] ?? 0;
      if (seen >= wanted && seen > 0) return (i + 1) * BUCKET_MS;
    }
    return 0;
  }

  /** Halves every count, so that old ticks weigh less and less. */
  decay(): void {
    this.#total = 0;
    for (let i = 0; i < BUCKETS; i++) {
      const half = (this.#counts[i] ?? 0) >>> 1;
      this.#counts[i] = half;
      this.#total += half;
    }
  }

  /** Forgets every tick. */
  clear(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }

  toJSON(): object {
    return {
      count: this.#total,
      p50Ms: this.quantileMs(0.5),
      p95Ms: this.quantileMs(0.95),
      p99Ms: this.quantileMs(0.99),
    };
  }
}
