/** A function the model may call; `parameters` is a JSON Schema object. */
export interface LlmTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface LlmToolCall {
  readonly callId: string;
  readonly name: string;
  /** As the model wrote it; may be malformed JSON. */
  readonly argumentsJson: string;
}

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly LlmToolCall[] }
  | { readonly role: 'tool'; readonly content: string; readonly callId: string };

export interface LlmRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly LlmTool[];
  readonly sessionId: string;
  /** Who is talking, as given at creation; empty when unknown. */
  readonly endUserId: string;
  readonly language: string;
}

export type LlmEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_call'; readonly call: LlmToolCall }
  | { readonly type: 'usage'; readonly inputTokens: number; readonly outputTokens: number };

/** Port: a language model. Implementations live in ./engines. */
export interface LlmEngine {
  readonly name: string;
  /**
   * Streams one reply: text as it comes, each tool call once and whole, then ends. Aborting `signal` frees the
   * upstream connection within 50 ms and ends the iteration without an error. Throws `Failure('upstream_failed')`
   * when the model can't answer.
   */
  reply(request: LlmRequest, signal: AbortSignal): AsyncIterable<LlmEvent>;
  /** Opens the connection ahead of the first request. Never throws. */
  prewarm(): Promise<void>;
}
