import { rounded } from './statistics.ts';

const ROUNDS = 40;
const STEPS = 4_000_000;

/** How evenly the machine runs: the same CPU loop again and again. */
export interface MachineNoise {
  readonly medianMs: number;
  /** How much longer than the median the slowest twentieth takes, in percent. On a machine of its own: below 10. */
  readonly spreadPercent: number;
}

export function machineNoise(): MachineNoise {
  const ms: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startMs = performance.now();
    spin();
    ms.push(performance.now() - startMs);
  }
  ms.sort((a, b) => a - b);
  const median = ms[Math.floor(ROUNDS / 2)] ?? 0;
  const slow = ms[Math.floor(ROUNDS * 0.95)] ?? 0;
  return { medianMs: rounded(median, 2), spreadPercent: rounded((slow / median - 1) * 100) };
}

let kept = 1;
function spin(): void {
  for (let i = 0; i < STEPS; i++) kept = (Math.imul(kept, 1_664_525) + 1_013_904_223) | 0;
}
