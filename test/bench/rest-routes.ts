import { FakeWorker } from '../fakes/fake-worker.ts';
import { eventually } from '../support/eventually.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import type { BareHandlers } from './bare-routes.ts';
import type { BenchPart } from './bench-part.ts';
import { openBenchStore, prepareBenchStore, type StoreAddress, type StoreKind } from './bench-store.ts';
import { benchModule } from './bench-worker.ts';
import { type ClosedLoad, closedLoop } from './closed-loop.ts';
import type { ControlHandlers } from './control-under-test.ts';
import { cpuOfProcess } from './process-sample.ts';
import { quantile, rounded } from './statistics.ts';
import { textTable } from './text-table.ts';

const CONNECTIONS = 16;
const SESSION_COUNT = 1_000;
const WARM_UP_S = 1;
const CAPACITY = 1_000_000;
const BEAT_MS = 500;

interface Subject {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly agentId: string;
}

interface Measured {
  readonly perSecond: number;
  readonly p95Ms: number;
  readonly cpuMs: number;
  readonly failed: number;
}

type RouteName = 'agent' | 'session list' | 'session create';
const ROUTES: readonly RouteName[] = ['agent', 'session list', 'session create'];

/** What three routes cost beside bare ones that do the same with Koa and the store's driver alone, on both stores. */
export const restRoutesPart: BenchPart = {
  name: 'routes',
  title: 'REST routes beside bare Koa and driver, one process each',
  async run({ isShort, say }) {
    const effort = isShort ? { seconds: 2, rounds: 1 } : { seconds: 5, rounds: 3 };
    const rows: (string | number)[][] = [];
    const figures: Record<string, number> = {};
    for (const kind of ['embedded', 'mongo'] as const) {
      say(`  store ${kind} …`);
      const { bare, ours } = await measureStore(kind, effort);
      for (const route of ROUTES) {
        const [a, b] = [bare[route], ours[route]];
        rows.push([
          `${kind}: ${route}`,
          ...[a, b].flatMap(({ perSecond, p95Ms, cpuMs }) => [perSecond.toFixed(0), p95Ms, cpuMs.toFixed(2)]),
          (b.cpuMs / a.cpuMs).toFixed(2),
        ]);
        const key = `routes.${kind}_${route.replaceAll(' ', '_')}`;
        figures[`${key}_per_s`] = rounded(b.perSecond, 0);
        figures[`${key}_p95_ms`] = rounded(b.p95Ms, 2);
        figures[`${key}_cpu_ms`] = rounded(b.cpuMs, 3);
        figures[`${key}_bare_cpu_ms`] = rounded(a.cpuMs, 3);
        figures[`${key}_failed`] = a.failed + b.failed;
      }
    }
    const head = ['', 'bare /s', 'p95 ms', 'CPU ms', 'ours /s', 'p95 ms', 'CPU ms', 'CPU ours/bare'];
    return { lines: textTable(head, rows), figures };
  },
};

/** Both processes run at the same time and are measured in turn, so that the machine is the same to both. */
async function measureStore(kind: StoreKind, effort: { seconds: number; rounds: number }) {
  const { seconds } = effort;
  const places = [await prepareBenchStore(kind), await prepareBenchStore(kind)] as const;
  const control = new WorkerProcess<ControlHandlers>(benchModule('control-under-test'));
  const bare = new WorkerProcess<BareHandlers>(benchModule('bare-routes'));
  let stopWorker = () => {};
  try {
    const sessionCount = SESSION_COUNT;
    const ours = await control.ask('start', { address: places[0].address, sessionCount });
    stopWorker = await startFakeWorker(ours.grpcPort);
    const agent = await storedAgent(places[0].address, ours.agentId);
    const plain = await bare.ask('start', { address: places[1].address, sessionCount, agent });
    const found = { ours: {} as Record<RouteName, Measured>, bare: {} as Record<RouteName, Measured> };
    for (const route of ROUTES) {
      const rounds: { ours: Measured; bare: Measured }[] = [];
      while (rounds.length < effort.rounds) {
        const ofBare = await measure(loadOf(route, plain, seconds), bare.pid);
        rounds.push({ bare: ofBare, ours: await measure(loadOf(route, ours, seconds), control.pid) });
      }
      found.ours[route] = best(rounds.map((round) => round.ours));
      found.bare[route] = best(rounds.map((round) => round.bare));
    }
    return found;
  } finally {
    stopWorker();
    await control.stop();
    await bare.stop();
    await places[0].remove();
    await places[1].remove();
  }
}

/** Neighbours on the machine only ever make it slower. */
function best(rounds: readonly Measured[]): Measured {
  const [cheapest] = rounds.toSorted((a, b) => a.cpuMs - b.cpuMs);
  if (!cheapest) throw new Error('no round');
  return { ...cheapest, failed: rounds.reduce((sum, { failed }) => sum + failed, 0) };
}

function loadOf(route: RouteName, { baseUrl, apiKey, agentId }: Subject, seconds: number): ClosedLoad {
  const common = { headers: { authorization: `Bearer ${apiKey}` }, connections: CONNECTIONS, seconds };
  const get = { ...common, method: 'GET', expectedStatus: 200 } as const;
  if (route === 'agent') return { ...get, url: `${baseUrl}/v1/agent/agents/${agentId}` };
  const url = `${baseUrl}/v1/agent/sessions`;
  if (route === 'session list') return { ...get, url };
  return { ...common, method: 'POST', url, body: { agent_id: agentId }, expectedStatus: 201 };
}

async function measure(load: ClosedLoad, pid: number): Promise<Measured> {
  const warmUp = await closedLoop({ ...load, seconds: WARM_UP_S });
  if (warmUp.latenciesMs.length === 0) throw new Error(`${load.url}: ${warmUp.firstFailure}`);
  const cpuBeforeMs = cpuOfProcess(pid);
  const { latenciesMs, perSecond, failed } = await closedLoop(load);
  const cpuMs = (cpuOfProcess(pid) - cpuBeforeMs) / latenciesMs.length;
  return { perSecond, p95Ms: quantile(latenciesMs, 0.95), cpuMs, failed };
}

/** The document behind an agent, which the bare route answers as it lies. */
async function storedAgent(address: StoreAddress, agentId: string): Promise<Record<string, unknown>> {
  const store = await openBenchStore(address);
  try {
    const found = await store.collection('agents').findOne({ _id: agentId });
    if (!found) throw new Error('the agent is not in the store');
    return { ...found };
  } finally {
    await store.close();
  }
}

/** A worker that takes every session and holds it; answers the function that ends it. */
async function startFakeWorker(grpcPort: number): Promise<() => void> {
  const worker = new FakeWorker(grpcPort, { capacity: CAPACITY });
  await eventually('the worker is linked', 5_000, () => worker.heardOf('welcome')[0] ?? null);
  const beating = setInterval(() => worker.beat({ sessionIds: [] }), BEAT_MS);
  return () => {
    clearInterval(beating);
    worker.close();
  };
}
