import type { AudioFrame } from '../frame.ts';

/** 30 s of 10 ms frames: what an engine that has stalled is given before the oldest sound is dropped. */
const MAX_FRAMES = 3_000;

/** One utterance on its way to a recogniser: one writer, one reader. Full, it drops its oldest frame. */
export class FrameQueue implements AsyncIterable<AudioFrame> {
  #frames: AudioFrame[] = [];
  #isEnded = false;
  #dropped = 0;
  #wake: (() => void) | null = null;

  get droppedFrames(): number {
    return this.#dropped;
  }

  /** False when the queue has ended, its reader has left, or the oldest frame had to go for this one. */
  push(frame: AudioFrame): boolean {
    if (this.#isEnded) return false;
    this.#frames.push(frame);
    const isFull = this.#frames.length > MAX_FRAMES;
    if (isFull) {
      this.#frames.shift();
      this.#dropped++;
    }
    this.#wake?.();
    return !isFull;
  }

  /** No frame comes after; what is queued is still read. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /** A reader that leaves, also while it waits, ends the queue and frees what is in it. */
  [Symbol.asyncIterator](): AsyncIterator<AudioFrame> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.#frames = [];
        this.end();
        return { done: true, value: undefined };
      },
    };
  }

  async #next(): Promise<IteratorResult<AudioFrame>> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame) return { done: false, value: frame };
      if (this.#isEnded) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }
}
