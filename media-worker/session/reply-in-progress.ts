import type { ChatMessage } from '../llm/llm-engine.ts';
import type { HeardWord, PlayoutQueue } from '../playout/playout-queue.ts';
import type { Conversation } from './conversation.ts';
import type { Timeline } from './timeline.ts';

/** What the maker of a reply needs to know of this one reply. */
export interface ReplyOrder {
  readonly trigger: 'greeting' | 'caller';
  readonly isSpoken: boolean;
  readonly history: readonly ChatMessage[];
  readonly onMark: (mark: 'llm_first_token' | 'first_sentence' | 'tts_first_audio') => void;
  readonly onSentence: (text: string) => void;
  readonly onHangUp: () => void;
  readonly onToolCall: (callId: string, name: string, input: string) => void;
  readonly onToolResult: (callId: string, name: string, output: string, latencyMs: number) => void;
}

/** Makes a reply into the queue; resolves when all of it is written or `signal` aborts, rejects when an engine failed. */
export type ReplyMaker = (order: ReplyOrder, queue: PlayoutQueue, signal: AbortSignal) => Promise<void>;

export interface ReplyInProgressDeps {
  readonly epoch: number;
  readonly turn: number;
  readonly trigger: 'greeting' | 'caller';
  readonly isSpoken: boolean;
  readonly queue: PlayoutQueue;
  readonly conversation: Conversation;
  readonly timeline: Timeline;
  readonly makeReply: ReplyMaker;
  readonly nowMs: () => number;
  readonly showText: (segmentId: string, delta: string, isFinal: boolean) => void;
  readonly onMark: ReplyOrder['onMark'];
  readonly onHangUp: () => void;
  /** The whole reply is written, without a failure. */
  readonly onMade: () => void;
  readonly onFailed: (error: unknown) => void;
}

/** One reply from its first thought to its last heard word: the truth about what the caller got of it. */
export class ReplyInProgress {
  readonly #deps: ReplyInProgressDeps;
  readonly #stop = new AbortController();
  readonly #segmentId: string;
  #heard = '';
  #isEstimated = false;
  #audibleAtMs: number | null = null;
  #isClosed = false;

  constructor(deps: ReplyInProgressDeps) {
    this.#deps = deps;
    this.#segmentId = `agent-${deps.epoch}`;
  }

  get epoch(): number {
    return this.#deps.epoch;
  }

  start(): void {
    const { queue, timeline, turn } = this.#deps;
    const order: ReplyOrder = {
      trigger: this.#deps.trigger,
      isSpoken: this.#deps.isSpoken,
      history: [...this.#deps.conversation.messages()],
      onMark: (mark) => this.#deps.onMark(mark),
      onSentence: (text) => this.#onSentence(text),
      onHangUp: () => this.#isClosed || this.#deps.onHangUp(),
      onToolCall: (callId, name, input) => timeline.toolCall(turn, callId, name, 'builtin', input),
      onToolResult: (callId, name, output, latencyMs) =>
        timeline.toolResult(turn, callId, name, 'builtin', output, latencyMs),
    };
    this.#deps
      .makeReply(order, queue, this.#stop.signal)
      .then(
        () => this.#deps.onMade(),
        (error: unknown) => {
          if (!this.#stop.signal.aborted) this.#deps.onFailed(error);
        },
      )
      .finally(() => queue.complete());
  }

  onAudible(epoch: number, atMs: number): void {
    if (epoch === this.#deps.epoch) this.#audibleAtMs ??= atMs;
  }

  /** Words whose sound has just gone out: they join the transcript now, not before. */
  onHeard(epoch: number, words: readonly HeardWord[]): void {
    if (epoch !== this.#deps.epoch) return;
    this.#isEstimated ||= words.some((word) => word.isEstimated);
    this.#show(words.map((word) => word.text).join(' '));
  }

  /** Ends the reply: what was heard becomes history, the rest never was. */
  close(wasInterrupted: boolean): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stop.abort();
    if (this.#heard !== '') this.#deps.showText(this.#segmentId, '', true);
    this.#deps.conversation.addAgent(this.#heard, wasInterrupted);
    this.#deps.timeline.agentMessage({
      turn: this.#deps.turn,
      content: this.#heard,
      startedAtMs: this.#audibleAtMs ?? this.#deps.nowMs(),
      wasInterrupted,
      isEstimated: this.#isEstimated,
    });
  }

  #onSentence(text: string): void {
    // A text answer isn't paced: it is read as soon as it is written.
    if (!this.#deps.isSpoken && !this.#isClosed) this.#show(text);
  }

  #show(text: string): void {
    const delta = this.#heard === '' ? text : ` ${text}`;
    this.#heard += delta;
    this.#deps.showText(this.#segmentId, delta, false);
  }
}
