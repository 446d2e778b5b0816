import { loadResampler } from '../../media-worker/codec/resample.ts';
import { createSileroVad } from '../../media-worker/vad/engines/silero/silero-vad.ts';
import { type SpeechBoundary, SpeechGate } from '../../media-worker/vad/speech-gate.ts';
import type { VadEngine } from '../../media-worker/vad/vad-engine.ts';
import { activeRms, noise, withNoise } from '../support/noise.ts';
import { joined, SPEECH_VOICES, silence } from '../support/speech-samples.ts';
import { respoken } from '../support/vad-signals.ts';

const FRAME_MS = 32;
const PAUSE_MS = 1_000;
/** A frame is speech when the clean recording lies within 30 dB of its loud parts. */
const SPEECH_FLOOR_DB = -30;
/** Frames this near a change of the label are not counted: there the label itself is a matter of taste. */
const UNSURE_FRAMES = 2;

export interface VadFigures {
  readonly sound: string;
  /** Share of speech frames judged as speech, and of silent frames judged as speech; null where there are none. */
  readonly recall: number | null;
  readonly falseAlarms: number | null;
  /** Utterances of which the gate told a start within 400 ms, and all of them. */
  readonly found: number;
  readonly utterances: number;
  /** Starts the gate told where nobody spoke. */
  readonly falseStarts: number;
  readonly minutes: number;
}

interface Track {
  readonly samples: Int16Array;
  readonly utterances: readonly { readonly startMs: number; readonly endMs: number }[];
}

/** Recall and false alarms of the built-in voice activity detection, and its cost in µs of CPU per 32 ms frame. */
export async function benchVad(): Promise<{ figures: VadFigures[]; cpuUsPerFrame: number }> {
  const engine = await createSileroVad();
  const clean = await cleanTrack();
  const labels = labelsOf(clean.samples);
  const figures = (['clean', 'white 20', 'white 10', 'pink 20', 'pink 10', 'pink 5'] as const).map(
    (sound) => {
      const [colour, snrDb] = sound.split(' ');
      const samples =
        colour === 'white' || colour === 'pink'
          ? withNoise(clean.samples, colour, Number(snrDb))
          : clean.samples;
      return measure(engine, `${sound}${snrDb ? ' dB' : ''}`, { ...clean, samples }, labels);
    },
  );
  const alone = noise('pink', 120 * 16_000, activeRms(clean.samples), 7);
  figures.push(
    measure(engine, 'pink noise alone', { samples: alone, utterances: [] }, labelsOf(silence(120_000))),
  );
  return { figures, cpuUsPerFrame: cost(engine, clean.samples) };
}

async function cleanTrack(): Promise<Track> {
  const open = await loadResampler();
  const parts: Int16Array[] = [silence(PAUSE_MS)];
  const utterances: { startMs: number; endMs: number }[] = [];
  let atMs = PAUSE_MS;
  for (const ratio of [0.85, 0.92, 1, 1.08, 1.16]) {
    for (const voice of SPEECH_VOICES) {
      const said = respoken(open, voice, ratio);
      const endMs = atMs + said.length / 16;
      utterances.push({ startMs: atMs, endMs });
      parts.push(said, silence(PAUSE_MS));
      atMs = endMs + PAUSE_MS;
    }
  }
  return { samples: joined(...parts), utterances };
}

/** For each frame: is it speech? Null where that is unsure. */
function labelsOf(clean: Int16Array): (boolean | null)[] {
  const floor = activeRms(clean) * 10 ** (SPEECH_FLOOR_DB / 20);
  const count = Math.floor(clean.length / 512);
  const isLoud = Array.from({ length: count }, (_, i) => {
    const frame = clean.subarray(i * 512, (i + 1) * 512);
    return Math.sqrt(frame.reduce((sum, x) => sum + x * x, 0) / 512) > floor;
  });
  return isLoud.map((loud, i) => {
    const around = isLoud.slice(Math.max(0, i - UNSURE_FRAMES), i + UNSURE_FRAMES + 1);
    return around.every((other) => other === loud) ? loud : null;
  });
}

function measure(
  engine: VadEngine,
  sound: string,
  track: Track,
  labels: readonly (boolean | null)[],
): VadFigures {
  const stream = engine.open();
  const gate = new SpeechGate();
  const starts: SpeechBoundary[] = [];
  const judged = { speech: 0, heard: 0, silent: 0, alarms: 0 };
  labels.forEach((label, i) => {
    const probability = stream.probability(track.samples.subarray(i * 512, (i + 1) * 512));
    const isSpeech = probability > 0.5;
    if (label === true) judged.speech++;
    if (label === true && isSpeech) judged.heard++;
    if (label === false) judged.silent++;
    if (label === false && isSpeech) judged.alarms++;
    const told = gate.push({ probability, startMs: i * FRAME_MS, endMs: (i + 1) * FRAME_MS });
    starts.push(...told.filter((boundary) => boundary.type === 'started'));
  });
  stream.close();
  const isIn = (atMs: number, u: Track['utterances'][number]) =>
    atMs > u.startMs - 100 && atMs < u.endMs + 100;
  return {
    sound,
    recall: judged.speech > 0 ? judged.heard / judged.speech : null,
    falseAlarms: judged.silent > 0 ? judged.alarms / judged.silent : null,
    found: track.utterances.filter((u) => starts.some((s) => isIn(s.atMs, u) && s.atMs < u.startMs + 400))
      .length,
    utterances: track.utterances.length,
    falseStarts: starts.filter((s) => !track.utterances.some((u) => isIn(s.atMs, u))).length,
    minutes: (labels.length * FRAME_MS) / 60_000,
  };
}

function cost(engine: VadEngine, samples: Int16Array): number {
  const stream = engine.open();
  const frames = Array.from({ length: Math.floor(samples.length / 512) }, (_, i) =>
    samples.subarray(i * 512, (i + 1) * 512),
  );
  for (const frame of frames) stream.probability(frame);
  const before = process.cpuUsage();
  for (let round = 0; round < 3; round++) for (const frame of frames) stream.probability(frame);
  const used = process.cpuUsage(before);
  stream.close();
  return (used.user + used.system) / (3 * frames.length);
}

/** The figures as lines of a table. */
export function vadTable(bench: Awaited<ReturnType<typeof benchVad>>): string {
  const percent = (share: number | null) =>
    (share === null ? '–' : `${(share * 100).toFixed(1)} %`).padStart(8);
  const lines = bench.figures.map(
    (f) =>
      `${f.sound.padEnd(18)}${percent(f.recall)}${percent(f.falseAlarms)}` +
      `${`${f.found}/${f.utterances}`.padStart(10)}${`${f.falseStarts} in ${f.minutes.toFixed(1)} min`.padStart(16)}`,
  );
  return [
    'sound               recall  alarms     found    false starts',
    ...lines,
    `CPU per 32 ms frame: ${bench.cpuUsPerFrame.toFixed(1)} µs`,
  ].join('\n');
}

if (process.argv[1]?.match(/bench[/\\]vad\.[jt]s$/)) {
  console.log(vadTable(await benchVad()));
}
