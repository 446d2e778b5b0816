import { loadResampler } from '../../media-worker/codec/resample.ts';
import { Ticker } from '../../media-worker/playout/ticker.ts';
import { systemClock } from '../../shared/time.ts';
import { joined, SPEECH_RATE_HZ, type SpeechVoice, speechSample } from '../support/speech-samples.ts';
import { STUB_VOICE_HZ } from '../support/stub-engines.ts';
import { answerQuestions } from '../support/worker-process-side.ts';
import { CALLER_RATE_HZ, type JitterBufferTotals, WrtcCaller } from '../support/wrtc-caller.ts';
import { callEcho, converse, type Heard, interrupt } from './caller-scripts.ts';

/** Where the recording is quieter than this at its ends, it is cut: its first and last samples can be heard. */
const AUDIBLE_PEAK = 1_000;

/** About as long as a turn takes. */
const CYCLE_MS = 4_000;

interface Call {
  readonly baseUrl: string;
  readonly token: string;
}

const ticker = new Ticker();
let callers: WrtcCaller[] = [];

async function speech(voice: SpeechVoice, longestMs = Number.POSITIVE_INFINITY): Promise<Int16Array> {
  const recorded = speechSample(voice);
  const isLoud = (sample: number) => Math.abs(sample) > AUDIBLE_PEAK;
  const resampler = (await loadResampler())(SPEECH_RATE_HZ, CALLER_RATE_HZ);
  const trimmed = recorded.slice(recorded.findIndex(isLoud), recorded.findLastIndex(isLoud) + 1);
  const samples = joined(resampler.push(trimmed), resampler.flush());
  resampler.close();
  return samples.slice(0, Math.min(samples.length, (longestMs * CALLER_RATE_HZ) / 1000));
}

async function dialOne({ baseUrl, token }: Call): Promise<WrtcCaller> {
  const caller = new WrtcCaller(ticker, STUB_VOICE_HZ);
  callers.push(caller);
  await caller.dial(baseUrl, token);
  return caller;
}

/**
 * Runs the script for every caller for so long, each beginning at another moment of the cycle. Also answers how long
 * the callers' own jitter buffers kept the sound meanwhile, on average.
 */
async function runAll(
  seconds: number,
  script: (caller: WrtcCaller, sentence: Int16Array, endMs: number) => Promise<Heard>,
): Promise<Heard & { readonly jitterBufferMs: number }> {
  const sentence = await speech('slt');
  const endMs = performance.now() + seconds * 1000;
  const before = await jitterBuffers();
  const heard = await Promise.all(
    callers.map(async (caller, i) => {
      await systemClock.sleep(((i * 0.618) % 1) * CYCLE_MS);
      return script(caller, sentence, endMs);
    }),
  );
  const after = await jitterBuffers();
  return {
    ms: heard.flatMap((one) => one.ms),
    missed: heard.reduce((sum, one) => sum + one.missed, 0),
    jitterBufferMs: (after.delayMs - before.delayMs) / (after.samples - before.samples),
  };
}

async function jitterBuffers(): Promise<JitterBufferTotals> {
  const all = await Promise.all(callers.map((caller) => caller.jitterBuffer()));
  return {
    delayMs: all.reduce((sum, { delayMs }) => sum + delayMs, 0),
    samples: all.reduce((sum, { samples }) => sum + samples, 0),
  };
}

const handlers = {
  dial: async (calls: readonly Call[]) => {
    for (const call of calls) await dialOne(call);
  },
  converse: ({ seconds }: { seconds: number }) => runAll(seconds, converse),
  callEcho: ({ seconds }: { seconds: number }) => runAll(seconds, callEcho),
  /** Says a word, so that the agent begins to speak. */
  speakFirst: async (_: null) => {
    await callers[0]?.say(await speech('kal', 600));
  },
  interrupt: async ({ voice, listenMs }: { voice: SpeechVoice; listenMs: number }) => {
    const [caller] = callers;
    if (!caller) throw new Error('nobody has called');
    return interrupt(caller, await speech(voice, 900), listenMs);
  },
  /** A whole call: a word, the beginning of the answer, goodbye. Answers whether the answer was heard. */
  shortCall: async ({ call, talkMs }: { call: Call; talkMs: number }) => {
    const startMs = performance.now();
    const caller = await dialOne(call);
    const said = await caller.say(await speech('kal', 600));
    const answer = await caller.toneAfter(said.firstMs, said.lastMs + 4_000);
    await systemClock.sleep(Math.max(0, talkMs - (performance.now() - startMs)));
    await caller.hangUp();
    callers = callers.filter((other) => other !== caller);
    return answer !== null;
  },
  hangUp: async (_: null) => {
    for (const caller of callers.splice(0)) await caller.hangUp();
  },
};
export type CallerHandlers = typeof handlers;

answerQuestions(handlers);
