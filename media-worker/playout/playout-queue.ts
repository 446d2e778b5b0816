import type { SpokenWord } from '../tts/tts-engine.ts';

/** All audio of the queue has this rate: the transport takes it as it is and every engine's audio is brought to it. */
export const PLAYOUT_RATE_HZ = 24_000;
/** 10 ms, what the transport takes at a time. */
export const PLAYOUT_FRAME_SAMPLES = PLAYOUT_RATE_HZ / 100;

/** Speech is made at most this far ahead of what is heard; makers wait for room. */
const ROOM_MS = 10_000;
const ROOM_SAMPLES = (PLAYOUT_RATE_HZ * ROOM_MS) / 1000;

export interface HeardWord {
  readonly text: string;
  readonly isEstimated: boolean;
}

interface QueuedWord extends SpokenWord {
  readonly startSample: number;
  readonly endSample: number;
}

/**
 * The audio of one reply on its way out, and the record of what of it was heard. Written by the reply as speech is
 * made, read 10 ms at a time by the pacer. A word counts as heard when its middle has been sent.
 */
export class PlayoutQueue {
  #chunks: Int16Array[] = [];
  #headOffset = 0;
  #pendingSamples = 0;
  #writtenSamples = 0;
  #playedSamples = 0;
  #words: QueuedWord[] = [];
  #heardCount = 0;
  #isComplete = false;
  #isPaused = false;
  #isDropped = false;
  #wakeWriter: (() => void) | null = null;

  /** Start of the next utterance on this queue's timeline: word times of an engine count from here. */
  get writtenSamples(): number {
    return this.#writtenSamples;
  }

  get playedMs(): number {
    return (this.#playedSamples * 1000) / PLAYOUT_RATE_HZ;
  }

  get pendingMs(): number {
    return (this.#pendingSamples * 1000) / PLAYOUT_RATE_HZ;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** True when the reply has been written to its end and heard to its end. */
  get isFinished(): boolean {
    return this.#isComplete && this.#pendingSamples === 0;
  }

  /** Appends audio at the playout rate. Audio after `drop` is thrown away. */
  write(samples: Int16Array): void {
    if (this.#isDropped || samples.length === 0) return;
    this.#chunks.push(samples);
    this.#pendingSamples += samples.length;
    this.#writtenSamples += samples.length;
  }

  /** Appends words whose times count from `originSample` of this queue. */
  writeWords(words: readonly SpokenWord[], originSample: number): void {
    for (const word of words) {
      const startSample = originSample + Math.round((word.startMs * PLAYOUT_RATE_HZ) / 1000);
      const endSample = originSample + Math.round((word.endMs * PLAYOUT_RATE_HZ) / 1000);
      this.#words.push({ ...word, startSample, endSample });
    }
  }

  /** Nothing more will be written. */
  complete(): void {
    this.#isComplete = true;
  }

  /** Resolves when less than the queue's room is waiting to be heard, or when the queue is dropped. */
  async room(): Promise<void> {
    while (this.#pendingSamples > ROOM_SAMPLES && !this.#isDropped) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
    }
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
  }

  /** Throws the unheard rest away. What was heard stays on record. */
  drop(): void {
    this.#isDropped = true;
    this.#isComplete = true;
    this.#chunks = [];
    this.#pendingSamples = 0;
    this.#wake();
  }

  /** The next 10 ms in a buffer of their own (the last one padded with silence), or null while there is nothing to say. */
  read(): Int16Array | null {
    if (this.#isPaused || this.#pendingSamples === 0) return null;
    if (this.#pendingSamples < PLAYOUT_FRAME_SAMPLES && !this.#isComplete) return null;
    const frame = new Int16Array(PLAYOUT_FRAME_SAMPLES);
    let filled = 0;
    while (filled < frame.length) {
      const head = this.#chunks[0];
      if (!head) break;
      const take = Math.min(frame.length - filled, head.length - this.#headOffset);
      frame.set(head.subarray(this.#headOffset, this.#headOffset + take), filled);
      filled += take;
      this.#headOffset += take;
      if (this.#headOffset === head.length) {
        this.#chunks.shift();
        this.#headOffset = 0;
      }
    }
    this.#pendingSamples -= filled;
    this.#playedSamples += filled;
    if (this.#pendingSamples <= ROOM_SAMPLES) this.#wake();
    return frame;
  }

  /** Words that became heard since the last call, in order. */
  takeHeardWords(): HeardWord[] {
    const heard: HeardWord[] = [];
    for (;;) {
      const word = this.#words[this.#heardCount];
      if (!word || (word.startSample + word.endSample) / 2 > this.#playedSamples) return heard;
      // A word that the engine timed past its own audio is heard with the last sample.
      heard.push(word);
      this.#heardCount++;
    }
  }

  /** Words not heard yet; those of a finished queue count as heard, whatever their times said. */
  takeRemainingWords(): HeardWord[] {
    const rest = this.#words.slice(this.#heardCount);
    this.#heardCount = this.#words.length;
    return rest;
  }

  #wake(): void {
    this.#wakeWriter?.();
    this.#wakeWriter = null;
  }
}
