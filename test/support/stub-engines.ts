import type { AsrEngine } from '../../media-worker/asr/asr-engine.ts';
import type { LlmEngine } from '../../media-worker/llm/llm-engine.ts';
import type { TtsEngine } from '../../media-worker/tts/tts-engine.ts';
import type { Clock } from '../../shared/time.ts';
import { tone } from './pitch.ts';

/** How long the engines take, always. Whatever a call takes beyond that is our own. */
export interface StubDelays {
  /** From the end of the utterance to its final text. */
  readonly asrFinalMs: number;
  readonly llmFirstTokenMs: number;
  readonly ttsFirstAudioMs: number;
}

export interface StubEnginesOptions {
  readonly delays: StubDelays;
  /** What the recogniser understands, whatever was said. */
  readonly heardText: string;
  /** What the model answers: one sentence. */
  readonly replyText: string;
  /** How long the voice speaks that sentence. */
  readonly replyMs: number;
  readonly clock: Clock;
}

/** The pitch of the stub voice. */
export const STUB_VOICE_HZ = 1_000;
/** The rate of most speech services, which is the playout's own. */
const RATE_HZ = 24_000;
const CHUNK_SAMPLES = RATE_HZ / 10;

/** Recogniser, model and voice that need fixed times and next to no CPU, as engines on other machines do. */
export function createStubEngines(options: StubEnginesOptions): {
  readonly asr: AsrEngine;
  readonly llm: LlmEngine;
  readonly tts: TtsEngine;
} {
  return { asr: stubAsr(options), llm: stubLlm(options), tts: stubTts(options) };
}

function stubAsr({ delays, heardText, clock }: StubEnginesOptions): AsrEngine {
  return {
    name: 'stub',
    sampleRateHz: 16_000,
    hasPartials: false,
    understands: () => true,
    open: async () => ({
      async *transcribe(audio, signal) {
        let startMs: number | null = null;
        let endMs = 0;
        for await (const frame of audio) {
          startMs ??= frame.startMs;
          endMs = frame.startMs;
        }
        await clock.sleep(delays.asrFinalMs, signal);
        if (signal.aborted) return;
        yield { text: heardText, isFinal: true, startMs: startMs ?? 0, endMs, confidence: 1 };
      },
      close: async () => {},
    }),
    close: async () => {},
  };
}

function stubLlm({ delays, replyText, clock }: StubEnginesOptions): LlmEngine {
  return {
    name: 'stub',
    async *reply(_request, signal) {
      await clock.sleep(delays.llmFirstTokenMs, signal);
      if (!signal.aborted) yield { type: 'text', text: `${replyText} ` };
    },
    prewarm: async () => {},
  };
}

function stubTts({ delays, replyMs, clock }: StubEnginesOptions): TtsEngine {
  const voice = tone(STUB_VOICE_HZ, replyMs, RATE_HZ);
  return {
    name: 'stub',
    speaks: () => true,
    async *synthesize({ text }, signal) {
      await clock.sleep(delays.ttsFirstAudioMs, signal);
      const spoken = text.split(/\s+/).filter((word) => word !== '');
      const wordMs = replyMs / Math.max(1, spoken.length);
      yield {
        type: 'words',
        words: spoken.map((word, i) => ({
          text: word,
          startMs: i * wordMs,
          endMs: (i + 1) * wordMs,
          isEstimated: false,
        })),
      };
      for (let at = 0; at < voice.length && !signal.aborted; at += CHUNK_SAMPLES) {
        yield { type: 'audio', samples: voice.slice(at, at + CHUNK_SAMPLES), sampleRateHz: RATE_HZ };
        // As a stream from a socket: one chunk per round of the event loop.
        await new Promise(setImmediate);
      }
    },
    prewarm: async () => {},
    close: async () => {},
  };
}
