import type { AsrSession } from '../asr/asr-engine.ts';
import { FrameQueue } from '../asr/frame-queue.ts';
import type { AudioFrame } from '../frame.ts';
import { durationMs } from '../frame.ts';
import type { SpeechBoundary } from '../vad/speech-gate.ts';

/** Sound kept from before the voice was noticed: the first consonant lies there. Longer than the gate's pre-roll and decision together. */
const PRE_ROLL_MS = 600;
/** A caller who never pauses is recognised in pieces of this length. */
const LONGEST_UTTERANCE_MS = 30_000;

export interface CallerEarDeps {
  /** Brings the transport's audio to the recogniser's rate, with media time. */
  readonly follow: (samples: Int16Array, sampleRateHz: number) => readonly AudioFrame[];
  /** Where speech begins and ends. */
  readonly hear: (frame: AudioFrame) => readonly SpeechBoundary[];
  /** Null: no recogniser is at hand and only typed messages are understood. */
  readonly asr: AsrSession | null;
  readonly nowMs: () => number;
  readonly onSpeechStarted: (utterance: number, onsetMs: number) => void;
  readonly onSpeechEnded: (utterance: number, lastSpeechMs: number) => void;
  readonly onTranscript: (utterance: number, text: string, isFinal: boolean) => void;
  readonly onAsrFailed: (utterance: number, error: unknown) => void;
}

/** The way in: finds where the caller speaks and has those stretches recognised, while they are spoken. */
export class CallerEar {
  readonly #deps: CallerEarDeps;
  readonly #preRoll: AudioFrame[] = [];
  /** One for each utterance that is being recognised, so that nothing of it outlives it. */
  readonly #recognising = new Set<AbortController>();
  #isClosed = false;
  #utterance = 0;
  #open: { readonly frames: FrameQueue; readonly startMs: number } | null = null;

  constructor(deps: CallerEarDeps) {
    this.#deps = deps;
  }

  push(samples: Int16Array, sampleRateHz: number): void {
    if (this.#isClosed) return;
    for (const frame of this.#deps.follow(samples, sampleRateHz)) this.#pushFrame(frame);
  }

  /** The audio has stopped without a silence at its end: what was being said ends here. */
  cut(): void {
    this.#finish(this.#deps.nowMs());
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#recognising) stop.abort();
    this.#open?.frames.end();
    this.#open = null;
  }

  #pushFrame(frame: AudioFrame): void {
    const endMs = frame.startMs + durationMs(frame);
    this.#open?.frames.push(frame);
    this.#preRoll.push(frame);
    while ((this.#preRoll[0]?.startMs ?? endMs) < endMs - PRE_ROLL_MS) this.#preRoll.shift();
    for (const boundary of this.#deps.hear(frame)) {
      // Media time → session time: what the boundary lies back in media, it lies back in the session.
      const backMs = endMs - (boundary.type === 'started' ? boundary.onsetMs : boundary.lastSpeechMs);
      const atMs = this.#deps.nowMs() - backMs;
      if (boundary.type === 'started') this.#begin(atMs, boundary.audioFromMs);
      else this.#finish(atMs);
    }
    if (this.#open && endMs - this.#open.startMs > LONGEST_UTTERANCE_MS) {
      this.#finish(this.#deps.nowMs());
      this.#begin(this.#deps.nowMs(), endMs);
    }
  }

  #begin(onsetMs: number, audioFromMs: number): void {
    if (this.#open) return;
    const utterance = ++this.#utterance;
    const frames = new FrameQueue();
    for (const frame of this.#preRoll) if (frame.startMs >= audioFromMs) frames.push(frame);
    this.#open = { frames, startMs: audioFromMs };
    this.#deps.onSpeechStarted(utterance, onsetMs);
    void this.#recognise(utterance, frames);
  }

  #finish(lastSpeechMs: number): void {
    if (!this.#open) return;
    this.#open.frames.end();
    this.#open = null;
    this.#deps.onSpeechEnded(this.#utterance, lastSpeechMs);
  }

  async #recognise(utterance: number, frames: FrameQueue): Promise<void> {
    const stop = new AbortController();
    this.#recognising.add(stop);
    try {
      if (!this.#deps.asr) return this.#deps.onTranscript(utterance, '', true);
      for await (const heard of this.#deps.asr.transcribe(frames, stop.signal)) {
        if (stop.signal.aborted) return;
        this.#deps.onTranscript(utterance, heard.text, heard.isFinal);
      }
    } catch (error) {
      if (!stop.signal.aborted) this.#deps.onAsrFailed(utterance, error);
    } finally {
      this.#recognising.delete(stop);
    }
  }
}
