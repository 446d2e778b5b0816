import type { BenchPart } from './bench-part.ts';
import { rounded } from './statistics.ts';
import { benchVad, vadTable } from './vad.ts';

/** The built-in voice detection: what it finds, what it imagines, what it costs. */
export const vadPart: BenchPart = {
  name: 'vad',
  title: 'Voice detection',
  async run() {
    const bench = await benchVad();
    const figures: Record<string, number> = { 'vad.cpu_us_per_frame': rounded(bench.cpuUsPerFrame) };
    for (const { sound, recall, found, utterances } of bench.figures) {
      const key = sound.replaceAll(' ', '_');
      if (recall !== null) figures[`vad.missed_speech_percent_${key}`] = rounded((1 - recall) * 100);
      figures[`vad.missed_utterances_${key}`] = utterances - found;
    }
    return { lines: vadTable(bench).split('\n'), figures };
  },
};
