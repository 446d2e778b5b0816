import { readdirSync, readFileSync } from 'node:fs';

/** What a process uses at one moment. */
export interface ProcessSample {
  /** On the process's own monotonic clock. */
  readonly atMs: number;
  /** CPU time of all threads since the start. */
  readonly cpuMs: number;
  /** How long the main thread was ready to run and had no core, since the start: what neighbours cost us. */
  readonly waitedMs: number;
  readonly rssBytes: number;
  readonly heapUsedBytes: number;
  readonly threads: number;
  readonly openFiles: number;
  /** What keeps the event loop alive, by kind: sockets, pipes, timers. */
  readonly handles: Readonly<Record<string, number>>;
}

const BETWEEN_COLLECTIONS_MS = 50;

/** Takes a sample of this process; `collectsGarbage` needs `--expose-gc`. */
export async function sampleProcess(collectsGarbage: boolean): Promise<ProcessSample> {
  if (collectsGarbage) {
    // Finalizers of native objects run between the two.
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_COLLECTIONS_MS));
    globalThis.gc?.();
  }
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const handles: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
  return {
    atMs: performance.now(),
    cpuMs: (user + system) / 1000,
    waitedMs: Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1_000_000,
    rssBytes: rss,
    heapUsedBytes: heapUsed,
    threads: Number(/^Threads:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]),
    openFiles: readdirSync('/proc/self/fd').length,
    handles,
  };
}

/** CPU time of another process since its start, in ms, in steps of 10. */
export function cpuOfProcess(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
