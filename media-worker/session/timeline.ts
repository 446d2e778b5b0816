import type { TimelineItem } from '../../shared/session-timeline.ts';
import { toIso } from '../../shared/time.ts';

/** What the timeline tells the control plane; the shape of `items` in the session detail. */
export interface TimelineDeps {
  readonly publishItem: (itemJson: string) => void;
  readonly nowMs: () => number;
}

export interface HeardMessage {
  readonly turn: number;
  readonly content: string;
  /** When its first word was heard, ms since 1970. */
  readonly startedAtMs: number;
  readonly wasInterrupted: boolean;
  /** The place of the cut is an estimate: the voice gave no word times. */
  readonly isEstimated: boolean;
}

/** Writes the session's items: messages of both sides, tool calls and their results. */
export class Timeline {
  readonly #deps: TimelineDeps;

  constructor(deps: TimelineDeps) {
    this.#deps = deps;
  }

  userMessage(turn: number, content: string, startedAtMs: number): void {
    this.#publish({ type: 'message', role: 'user', content, turn_id: turn, created_at: toIso(startedAtMs) });
  }

  /** An agent's message keeps the words that were heard; one that nobody heard leaves no item. */
  agentMessage(message: HeardMessage): void {
    if (message.content === '') return;
    this.#publish({
      type: 'message',
      role: 'assistant',
      content: message.content,
      turn_id: message.turn,
      created_at: toIso(message.startedAtMs),
      interrupted: message.wasInterrupted,
      ...(message.wasInterrupted && message.isEstimated ? { heard_estimated: true } : {}),
    });
  }

  toolCall(turn: number, callId: string, toolName: string, toolSource: string, input: string): void {
    this.#publish({
      type: 'tool_call',
      call_id: callId,
      tool_name: toolName,
      tool_source: toolSource,
      input,
      turn_id: turn,
      created_at: this.#now(),
    });
  }

  toolResult(
    turn: number,
    callId: string,
    toolName: string,
    toolSource: string,
    output: string,
    latencyMs: number,
  ): void {
    this.#publish({
      type: 'tool_result',
      call_id: callId,
      tool_name: toolName,
      tool_source: toolSource,
      status: 'completed',
      output,
      output_truncated: false,
      error: null,
      latency_ms: Math.round(latencyMs),
      turn_id: turn,
      created_at: this.#now(),
    });
  }

  #now(): string {
    return toIso(this.#deps.nowMs());
  }

  #publish(item: TimelineItem): void {
    this.#deps.publishItem(JSON.stringify(item));
  }
}
