import type { StubDelays } from '../support/stub-engines.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import type { CallerHandlers } from './callers.ts';
import { type ControlSide, type ReservedSession, startControlSide } from './control-side.ts';
import type { WorkerHandlers } from './worker-under-test.ts';

export const STUB_DELAYS: StubDelays = { asrFinalMs: 100, llmFirstTokenMs: 100, ttsFirstAudioMs: 50 };

export interface BenchWorkerOptions {
  /** How long the stub voice speaks each answer. */
  readonly replyMs: number;
  readonly observesVoice?: boolean;
}

export interface BenchWorker {
  readonly control: ControlSide;
  readonly worker: WorkerProcess<WorkerHandlers>;
  readonly callers: WorkerProcess<CallerHandlers>;
  /** Reserves so many sessions. */
  reserve(count: number): Promise<readonly (ReservedSession & { readonly baseUrl: string })[]>;
  stop(): Promise<void>;
}

/** A module beside this one, as source or built. */
export function benchModule(name: string): URL {
  return new URL(`./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
}

/** A worker in a process of its own, callers in another, the control plane's side of the link in this one. */
export async function startBenchWorker(options: BenchWorkerOptions): Promise<BenchWorker> {
  const control = await startControlSide();
  const worker = new WorkerProcess<WorkerHandlers>(benchModule('worker-under-test'));
  const callers = new WorkerProcess<CallerHandlers>(benchModule('callers'));
  const stop = async () => {
    await callers.stop();
    await worker.stop();
    await control.stop();
  };
  try {
    const { port } = await worker.ask('start', {
      controlAddress: control.address,
      joinPublicPem: control.joinPublicPem,
      observesVoice: options.observesVoice ?? false,
      engines: {
        delays: STUB_DELAYS,
        heardText: 'Please book a table for four tonight.',
        replyText: 'Certainly, your table is booked.',
        replyMs: options.replyMs,
      },
    });
    await control.linkedWorker();
    const baseUrl = `http://127.0.0.1:${port}`;
    const reserve = async (count: number) => {
      const sessions = [];
      for (let i = 0; i < count; i++) sessions.push({ ...(await control.reserve()), baseUrl });
      return sessions;
    };
    return { control, worker, callers, reserve, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
