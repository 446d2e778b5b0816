import { SPEECH_VOICES } from '../support/speech-samples.ts';
import type { BenchPart } from './bench-part.ts';
import { startBenchWorker } from './bench-worker.ts';
import { quantile, rounded } from './statistics.ts';
import { textTable } from './text-table.ts';
import type { Sound } from './voice-observer.ts';

/** Longer than a try. */
const REPLY_MS = 30_000;
/** The agent is interrupted after so long, and up to one pacing round later, so that the phases differ. */
const LISTEN_MS = 700;

/** The caller speaks over the agent: how soon is the agent silent? */
export const bargeInPart: BenchPart = {
  name: 'barge-in',
  title: 'Barge-in: the caller speaks over a long answer',
  async run({ isShort }) {
    const tries = isShort ? 6 : 20;
    const bench = await startBenchWorker({ replyMs: REPLY_MS, observesVoice: true });
    try {
      const { worker, callers } = bench;
      await callers.ask('dial', await bench.reserve(1));
      await callers.ask('speakFirst', null);
      const atCallerMs: number[] = [];
      for (let i = 0; i < tries; i++) {
        const { silenceHeardMs } = await callers.ask('interrupt', {
          voice: SPEECH_VOICES[i % SPEECH_VOICES.length] ?? 'slt',
          listenMs: LISTEN_MS + ((i * 37) % 100),
        });
        atCallerMs.push(silenceHeardMs);
      }
      const { heard, sent } = await worker.ask('sounds', null);
      await callers.ask('hangUp', null);
      const atWorkerMs = silences(heard, sent);
      if (atWorkerMs.length < tries) {
        throw new Error(`${tries} interruptions, but only ${atWorkerMs.length} silences at the worker`);
      }
      const row = (name: string, ms: readonly number[]) => [
        name,
        quantile(ms, 0.5),
        quantile(ms, 0.95),
        Math.max(...ms),
      ];
      return {
        lines: textTable(
          [`${tries} tries, ms`, 'p50', 'p95', 'worst'],
          [
            row('onset at the worker → last audible frame sent', atWorkerMs),
            row('onset at the caller → last sound heard', atCallerMs),
          ],
        ),
        figures: {
          'barge-in.tries': atWorkerMs.length,
          'barge-in.sent_p50_ms': rounded(quantile(atWorkerMs, 0.5)),
          'barge-in.sent_p95_ms': rounded(quantile(atWorkerMs, 0.95)),
          'barge-in.heard_p50_ms': rounded(quantile(atCallerMs, 0.5)),
          'barge-in.heard_p95_ms': rounded(quantile(atCallerMs, 0.95)),
        },
      };
    } finally {
      await bench.stop();
    }
  },
};

/** Of every sound of the caller that began while the agent spoke: how long the agent's voice went on. */
function silences(heard: readonly Sound[], sent: readonly Sound[]): number[] {
  return heard.flatMap(({ firstMs: onsetMs }) => {
    const voice = sent.find(({ firstMs, lastMs }) => firstMs < onsetMs && lastMs >= onsetMs);
    return voice ? [voice.lastMs - onsetMs] : [];
  });
}
