import { WorkerProcess } from '../support/worker-process.ts';
import type { BenchPart } from './bench-part.ts';
import { benchModule } from './bench-worker.ts';
import type { CallerHandlers } from './callers.ts';
import type { EchoHandlers } from './echo-server.ts';
import { quantile, rounded } from './statistics.ts';
import { textTable } from './text-table.ts';
import { cpuPerSession } from './turns.ts';

const LEVELS = [1, 10, 20] as const;
const SHORT_LEVELS = [10] as const;
const MEBIBYTE = 1_048_576;

/** The same callers against nothing but the WebRTC addon: the floor under the figures of a whole call. */
export const echoPart: BenchPart = {
  name: 'echo',
  title: 'Echo on the bare WebRTC addon: the floor under a call',
  async run({ isShort, say }) {
    const figures: Record<string, number> = {};
    const rows: (string | number)[][] = [];
    for (const sessions of isShort ? SHORT_LEVELS : LEVELS) {
      say(`  sessions: ${sessions} …`);
      const level = await measure(sessions, isShort ? 8 : 25);
      rows.push([
        `${sessions}`,
        level.p50Ms,
        level.p95Ms,
        level.jitterBufferMs,
        `${level.measured} (${level.missed})`,
        level.cpuMsPerSessionS,
        level.rssMibPerSession,
      ]);
      figures[`echo.round_trip_p50_ms_at_${sessions}`] = rounded(level.p50Ms);
      figures[`echo.round_trip_p95_ms_at_${sessions}`] = rounded(level.p95Ms);
      figures[`echo.caller_jitter_buffer_ms_at_${sessions}`] = rounded(level.jitterBufferMs);
      figures[`echo.cpu_ms_per_session_s_at_${sessions}`] = rounded(level.cpuMsPerSessionS, 2);
      figures[`echo.rss_mib_per_session_at_${sessions}`] = rounded(level.rssMibPerSession, 2);
    }
    const head = [
      'sessions',
      'tone sent → heard p50 ms',
      'p95 ms',
      'of that jitter buffer',
      'tones (unheard)',
      'CPU ms/session-s',
      'RSS MiB',
    ];
    return { lines: textTable(head, rows), figures };
  },
};

async function measure(sessions: number, seconds: number) {
  const server = new WorkerProcess<EchoHandlers>(benchModule('echo-server'));
  const callers = new WorkerProcess<CallerHandlers>(benchModule('callers'));
  try {
    const { port } = await server.ask('start', null);
    const before = await server.ask('sample', { collectsGarbage: true });
    const call = { baseUrl: `http://127.0.0.1:${port}`, token: 'none' };
    await callers.ask(
      'dial',
      Array.from({ length: sessions }, () => call),
    );
    await callers.ask('callEcho', { seconds: 3 });
    const from = await server.ask('sample', { collectsGarbage: false });
    const heard = await callers.ask('callEcho', { seconds }, (seconds + 30) * 1000);
    const to = await server.ask('sample', { collectsGarbage: false });
    return {
      p50Ms: quantile(heard.ms, 0.5),
      p95Ms: quantile(heard.ms, 0.95),
      jitterBufferMs: heard.jitterBufferMs,
      measured: heard.ms.length,
      missed: heard.missed,
      cpuMsPerSessionS: cpuPerSession(from, to, sessions),
      rssMibPerSession: (to.rssBytes - before.rssBytes) / MEBIBYTE / sessions,
    };
  } finally {
    await callers.stop();
    await server.stop();
  }
}
