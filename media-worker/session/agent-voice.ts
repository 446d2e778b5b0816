import {
  type HeardWord,
  PLAYOUT_FRAME_SAMPLES,
  PLAYOUT_RATE_HZ,
  PlayoutQueue,
} from '../playout/playout-queue.ts';
import type { Paced } from '../playout/ticker.ts';

/** Silence is sent for this long after speech, so that the receiver's jitter buffer stays settled; then nothing. */
const IDLE_FRAMES = 300;
const FRAMES_PER_TICK = 2;

export interface AgentVoiceDeps {
  /** Takes 10 ms at the playout rate in a buffer of its own. */
  readonly send: (samples: Int16Array, sampleRateHz: number) => void;
  readonly onStarted: (epoch: number) => void;
  readonly onHeard: (epoch: number, words: readonly HeardWord[]) => void;
  readonly onFinished: (epoch: number) => void;
  readonly monotonicMs: () => number;
}

interface Speaking {
  readonly epoch: number;
  readonly queue: PlayoutQueue;
  hasStarted: boolean;
}

/** The way out: what the agent says now, paced by the ticker, one reply at a time. */
export class AgentVoice implements Paced {
  readonly #deps: AgentVoiceDeps;
  #speaking: Speaking | null = null;
  #silentFrames = IDLE_FRAMES;
  #lastAudibleMs: number | null = null;

  constructor(deps: AgentVoiceDeps) {
    this.#deps = deps;
  }

  /** When the last frame of speech was handed to the transport, on the monotonic clock. */
  get lastAudibleMs(): number | null {
    return this.#lastAudibleMs;
  }

  /** Opens the queue of a new reply; the one before it is dropped. */
  begin(epoch: number): PlayoutQueue {
    this.#speaking?.queue.drop();
    const queue = new PlayoutQueue();
    this.#speaking = { epoch, queue, hasStarted: false };
    return queue;
  }

  pause(epoch: number): void {
    if (this.#speaking?.epoch === epoch) this.#speaking.queue.pause();
  }

  resume(epoch: number): void {
    if (this.#speaking?.epoch === epoch) this.#speaking.queue.resume();
  }

  /** Silence from the next frame on. What was heard of the reply was told by `onHeard`. */
  cancel(epoch: number): void {
    if (this.#speaking?.epoch !== epoch) return;
    this.#speaking.queue.drop();
    this.#speaking = null;
  }

  tick(): void {
    for (let i = 0; i < FRAMES_PER_TICK; i++) this.#sendFrame();
    const speaking = this.#speaking;
    if (!speaking) return;
    const words = speaking.queue.takeHeardWords();
    if (words.length > 0) this.#deps.onHeard(speaking.epoch, words);
    if (speaking.queue.isFinished && !speaking.queue.isPaused) this.#finish(speaking);
  }

  #sendFrame(): void {
    const speaking = this.#speaking;
    const frame = speaking?.queue.read() ?? null;
    if (frame && speaking) {
      this.#silentFrames = 0;
      this.#lastAudibleMs = this.#deps.monotonicMs();
      this.#deps.send(frame, PLAYOUT_RATE_HZ);
      if (!speaking.hasStarted) {
        speaking.hasStarted = true;
        this.#deps.onStarted(speaking.epoch);
      }
    } else if (this.#silentFrames < IDLE_FRAMES) {
      this.#silentFrames++;
      this.#deps.send(new Int16Array(PLAYOUT_FRAME_SAMPLES), PLAYOUT_RATE_HZ);
    }
  }

  #finish(speaking: Speaking): void {
    this.#speaking = null;
    const rest = speaking.queue.takeRemainingWords();
    if (rest.length > 0) this.#deps.onHeard(speaking.epoch, rest);
    this.#deps.onFinished(speaking.epoch);
  }
}
