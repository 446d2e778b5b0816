import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { bargeInPart } from './barge-in.ts';
import type { BenchPart } from './bench-part.ts';
import { compareWithBudgets } from './budgets.ts';
import { echoPart } from './echo.ts';
import { type MachineNoise, machineNoise } from './machine-noise.ts';
import { restPart } from './rest.ts';
import { restRoutesPart } from './rest-routes.ts';
import { soakPart } from './soak.ts';
import { turnsPart } from './turns.ts';
import { vadPart } from './vad-part.ts';

const PARTS: readonly BenchPart[] = [
  vadPart,
  restPart,
  restRoutesPart,
  echoPart,
  turnsPart,
  bargeInPart,
  soakPart,
];
/** Past this something hangs; a whole run takes about 25 minutes. */
const LIMIT_MS = 45 * 60_000;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { short: { type: 'boolean' }, only: { type: 'string' }, out: { type: 'string' } },
  });
  const parts = values.only === undefined ? PARTS : PARTS.filter(({ name }) => name === values.only);
  if (parts.length === 0) {
    throw new Error(`--only takes one of: ${PARTS.map(({ name }) => name).join(', ')}`);
  }
  const startedAt = new Date().toISOString();
  const before = machineNoise();
  const figures: Record<string, number> = {};
  for (const part of parts) {
    console.log(`\n== ${part.title}`);
    const result = await part.run({ isShort: values.short ?? false, say: (line) => console.log(line) });
    console.log(result.lines.join('\n'));
    Object.assign(figures, result.figures);
  }
  const after = machineNoise();
  console.log(`\n== Machine: ${describe(before)} before, ${describe(after)} after`);
  const verdict = compareWithBudgets(
    figures,
    parts.map(({ name }) => name),
  );
  console.log(`\n== Budgets\n${verdict.lines.join('\n')}`);
  if (values.out !== undefined) {
    const machine = {
      cpu: cpus()[0]?.model,
      cores: cpus().length,
      memoryBytes: totalmem(),
      node: process.version,
    };
    const noise = { before, after };
    writeFileSync(
      values.out,
      `${JSON.stringify({ startedAt, isShort: values.short ?? false, machine, noise, figures, broken: verdict.broken }, null, 2)}\n`,
    );
  }
  return verdict.broken.length > 0 ? 1 : 0;
}

function describe({ medianMs, spreadPercent }: MachineNoise): string {
  return `a fixed loop takes ${medianMs} ms, its slowest twentieth ${spreadPercent} % more`;
}

setTimeout(() => {
  console.error(`not finished after ${LIMIT_MS} ms`);
  process.exit(1);
}, LIMIT_MS).unref();
main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
