import type { LlmEngine, LlmEvent, LlmRequest } from '../../media-worker/llm/llm-engine.ts';
import { Failure } from '../../shared/errors.ts';
import type { Clock } from '../../shared/time.ts';

/** What the fake model does: sends an event, waits, or fails. */
export type FakeLlmStep =
  | LlmEvent
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'fail' };

/** A text reply, word by word. */
export function says(text: string): FakeLlmStep[] {
  return (text.match(/\S+\s*/g) ?? []).map((piece) => ({ type: 'text', text: piece }));
}

/** A model that follows a script: one list of steps for each reply, the last one again and again. */
export class FakeLlm implements LlmEngine {
  readonly name = 'fake';
  /** Every request, in order. */
  readonly requests: LlmRequest[] = [];
  /** Replies whose signal aborted before they ended. */
  aborted = 0;
  prewarms = 0;
  readonly #clock: Clock;
  readonly #replies: readonly (readonly FakeLlmStep[])[];

  constructor(clock: Clock, replies: readonly (readonly FakeLlmStep[])[]) {
    this.#clock = clock;
    this.#replies = replies;
  }

  async *reply(request: LlmRequest, signal: AbortSignal): AsyncIterable<LlmEvent> {
    const steps = this.#replies[Math.min(this.requests.length, this.#replies.length - 1)] ?? [];
    this.requests.push(request);
    for (const step of steps) {
      if (step.type === 'wait') await this.#clock.sleep(step.ms, signal);
      if (signal.aborted) {
        this.aborted++;
        return;
      }
      if (step.type === 'fail') throw new Failure('upstream_failed', 'The model failed to answer');
      if (step.type !== 'wait') yield step;
    }
  }

  async prewarm(): Promise<void> {
    this.prewarms++;
  }
}
