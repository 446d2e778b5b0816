import type { AsrEngine } from '../../media-worker/asr/asr-engine.ts';
import { Failure } from '../../shared/errors.ts';

/** What a fake recogniser was asked. */
export interface HeardUtterance {
  readonly startMs: number;
  readonly samples: Int16Array;
}

export interface FakeRecogniserOptions {
  readonly languages?: readonly string[];
  /** Recognisers that are free at once. */
  readonly places?: number;
  /** What is understood, by the utterance. */
  readonly understand: (utterance: HeardUtterance) => string | Promise<string>;
}

/** A recogniser that collects utterances and understands what the test says. */
export function createFakeRecogniser(options: FakeRecogniserOptions): AsrEngine & {
  readonly heard: HeardUtterance[];
  /** Recognisers that are open now, and the most there ever were. */
  readonly sessions: { now: number; most: number };
} {
  const heard: HeardUtterance[] = [];
  const sessions = { now: 0, most: 0 };
  return {
    heard,
    sessions,
    name: 'fake',
    sampleRateHz: 16_000,
    hasPartials: false,
    understands: (language) => (options.languages ?? ['en']).includes(language),
    open: async () => {
      if (sessions.now >= (options.places ?? 4)) throw new Failure('unavailable', 'All recognisers are busy');
      sessions.now++;
      sessions.most = Math.max(sessions.most, sessions.now);
      let isOpen = true;
      return {
        async *transcribe(audio, signal) {
          const parts: Int16Array[] = [];
          let startMs: number | null = null;
          for await (const frame of audio) {
            startMs ??= frame.startMs;
            parts.push(frame.samples);
          }
          if (signal.aborted) return;
          const samples = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
          let at = 0;
          for (const part of parts) {
            samples.set(part, at);
            at += part.length;
          }
          const utterance = { startMs: startMs ?? 0, samples };
          heard.push(utterance);
          const endMs = utterance.startMs + samples.length / 16;
          yield {
            text: await options.understand(utterance),
            isFinal: true,
            startMs: utterance.startMs,
            endMs,
            confidence: null,
          };
        },
        close: async () => {
          if (isOpen) sessions.now--;
          isOpen = false;
        },
      };
    },
    close: async () => {},
  };
}
