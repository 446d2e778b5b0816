import { Failure } from '../../../../shared/errors.ts';
import { JobQueue } from '../../job-queue.ts';
import { sliceAudio } from '../../slice-audio.ts';
import { refuseUnspeakable } from '../../speech-request.ts';
import type { SpeechChunk, SpeechRequest, TtsEngine } from '../../tts-engine.ts';
import { FLITE_VOICES, type FliteVoice } from './flite-program.ts';
import type { FliteJob } from './flite-protocol.ts';
import type { SpokenPiece } from './flite-speaker.ts';
import { fliteText } from './flite-text.ts';
import { FliteWorker, type FliteWorkerDeps } from './flite-worker.ts';

/** At 50 ms each, the last of so many comes after 3 s. */
const MAX_WAITING_PIECES = 64;
const DEFAULT_VOICE: FliteVoice = 'slt';

/**
 * The built-in English voices: Flite as WebAssembly in a worker thread, 16 kHz, with word times from its phone
 * durations. A long sentence is spoken clause by clause, so that its first words come after some 50 ms.
 */
export class FliteEngine implements TtsEngine {
  readonly name = 'flite';
  readonly #worker: FliteWorker;
  readonly #queue: JobQueue<FliteJob, SpokenPiece>;

  constructor(deps: FliteWorkerDeps) {
    this.#worker = new FliteWorker(deps);
    this.#queue = new JobQueue(MAX_WAITING_PIECES, (job) => this.#worker.speak(job));
  }

  speaks(language: string): boolean {
    return language === 'en';
  }

  async *synthesize(request: SpeechRequest, signal: AbortSignal): AsyncIterable<SpeechChunk> {
    refuseUnspeakable(this, request);
    const voice = toVoice(request.voice);
    let offsetMs = 0;
    for (const piece of fliteText(request.text)) {
      const spoken = await this.#queue.run({ piece, voice, durationStretch: 1 / request.speed }, signal);
      if (!spoken || signal.aborted) return;
      const fromMs = offsetMs;
      yield {
        type: 'words',
        words: spoken.words.map((word) => ({
          ...word,
          startMs: word.startMs + fromMs,
          endMs: word.endMs + fromMs,
        })),
      };
      for (const samples of sliceAudio(spoken.samples, spoken.sampleRateHz)) {
        if (signal.aborted) return;
        yield { type: 'audio', samples, sampleRateHz: spoken.sampleRateHz };
      }
      offsetMs += (spoken.samples.length * 1000) / spoken.sampleRateHz;
    }
  }

  async prewarm(): Promise<void> {
    await this.#worker.start();
  }

  async close(): Promise<void> {
    this.#queue.close();
    await this.#worker.close();
  }
}

function toVoice(name: string | null): FliteVoice {
  if (name === null) return DEFAULT_VOICE;
  const voice = FLITE_VOICES.find((known) => known === name);
  if (!voice) throw new Failure('unprocessable', `Flite has no voice named ${name}`);
  return voice;
}
