import type { WorkerStatus } from '../coordination/coordination.ts';

/** Where workers begin to refuse calls by themselves. */
const MAX_TICKER_LATENESS_P99_MS = 10;

/**
 * The workers that may take a speech request, the best guess first: at random with the weight of their free slots.
 * Those full of calls come last, since speech needs no slot, and those that drain not at all.
 */
export function rankWorkers(workers: readonly WorkerStatus[], random: () => number): WorkerStatus[] {
  const left = workers.filter((worker) => !worker.isDraining);
  const ranked: WorkerStatus[] = [];
  while (left.length > 0) ranked.push(...left.splice(weightedIndex(left, random()), 1));
  return ranked;
}

/** Index of the worker under which `share` of all weight falls. */
function weightedIndex(workers: readonly WorkerStatus[], share: number): number {
  const weights = workers.map(weightOf);
  let left = share * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return index;
  }
  return workers.length - 1;
}

function weightOf({ capacity, occupied, tickerLatenessP99Ms }: WorkerStatus): number {
  const isLate = tickerLatenessP99Ms > MAX_TICKER_LATENESS_P99_MS;
  return isLate ? 0.001 : Math.max(0.001, capacity - occupied);
}
