import { eventually } from '../support/eventually.ts';
import type { BenchOptions, BenchPart, PartResult } from './bench-part.ts';
import { type BenchWorker, startBenchWorker } from './bench-worker.ts';
import type { ProcessSample } from './process-sample.ts';
import { rounded } from './statistics.ts';
import { textTable } from './text-table.ts';

const MEBIBYTE = 1_048_576;
const IDLE_LIMIT_MS = 15_000;

/** After how many calls the samples are taken that are compared. */
interface Plan {
  /** Everything that stays open is open. */
  readonly first: number;
  /** Memory has found its size. */
  readonly settled: number;
  readonly last: number;
  readonly talkMs: number;
}

const WHOLE: Plan = { first: 10, settled: 100, last: 500, talkMs: 2_000 };
const SHORT: Plan = { first: 5, settled: 20, last: 50, talkMs: 1_600 };

interface Checkpoint {
  readonly calls: number;
  readonly sample: ProcessSample;
}

/** One call after the other on one worker: does it use more and more of anything? */
export const soakPart: BenchPart = {
  name: 'soak',
  title: 'Soak: calls in sequence on one worker process, garbage collected before each sample',
  async run(options) {
    const plan = options.isShort ? SHORT : WHOLE;
    const bench = await startBenchWorker({ replyMs: 1_000 });
    try {
      const checkpoints: Checkpoint[] = [];
      let unanswered = 0;
      for (let calls = 1; calls <= plan.last; calls++) {
        if (!(await call(bench, plan.talkMs))) unanswered++;
        if (calls === plan.first || calls === plan.settled || calls % 50 === 0 || calls === plan.last) {
          checkpoints.push({ calls, sample: await sampleAtRest(bench) });
          tell(checkpoints, options);
        }
      }
      return report(checkpoints, plan, unanswered, bench.control.refusals());
    } finally {
      await bench.stop();
    }
  },
};

async function call(bench: BenchWorker, talkMs: number): Promise<boolean> {
  const [reserved] = await bench.reserve(1);
  if (!reserved) throw new Error('no session');
  const wasAnswered = await bench.callers.ask('shortCall', { call: reserved, talkMs });
  await bench.control.untilEnded(reserved.sessionId, IDLE_LIMIT_MS);
  return wasAnswered;
}

async function sampleAtRest({ worker }: BenchWorker): Promise<ProcessSample> {
  await eventually('the worker is empty', IDLE_LIMIT_MS, async () =>
    (await worker.ask('liveSessions', null)) === 0 ? true : null,
  );
  // Peer connections are taken down by threads of the addon.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  return worker.ask('sample', { collectsGarbage: true });
}

function tell(checkpoints: readonly Checkpoint[], { say }: BenchOptions): void {
  const last = checkpoints.at(-1);
  if (last) say(`  ${last.calls} calls: ${(last.sample.rssBytes / MEBIBYTE).toFixed(1)} MiB`);
}

function report(
  checkpoints: readonly Checkpoint[],
  plan: Plan,
  unanswered: number,
  refusals: number,
): PartResult {
  const at = (calls: number) => {
    const found = checkpoints.find((checkpoint) => checkpoint.calls === calls);
    if (!found) throw new Error(`no sample after ${calls} calls`);
    return found.sample;
  };
  const [first, settled, last] = [at(plan.first), at(plan.settled), at(plan.last)];
  // An `Immediate` is work of this very moment.
  const handles = ({ handles: { Immediate: _, ...lasting } }: ProcessSample) =>
    Object.values(lasting).reduce((sum, count) => sum + count, 0);
  const growth = (from: number, to: number) => rounded(((to - from) / from) * 100, 2);
  const lines = textTable(
    ['after calls', 'RSS MiB', 'heap MiB', 'threads', 'files', 'handles'],
    checkpoints.map(({ calls, sample }) => [
      `${calls}`,
      sample.rssBytes / MEBIBYTE,
      sample.heapUsedBytes / MEBIBYTE,
      `${sample.threads}`,
      `${sample.openFiles}`,
      Object.entries(sample.handles)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', '),
    ]),
  );
  return {
    lines: [
      ...lines,
      `calls without an answer: ${unanswered}; reservations refused for lateness: ${refusals}`,
    ],
    figures: {
      'soak.calls': plan.last,
      'soak.unanswered_calls': unanswered,
      'soak.rss_growth_percent': growth(settled.rssBytes, last.rssBytes),
      'soak.heap_growth_percent': growth(settled.heapUsedBytes, last.heapUsedBytes),
      'soak.more_threads': last.threads - first.threads,
      'soak.more_open_files': last.openFiles - first.openFiles,
      'soak.more_handles': handles(last) - handles(first),
      'soak.rss_mib_at_end': rounded(last.rssBytes / MEBIBYTE),
    },
  };
}
