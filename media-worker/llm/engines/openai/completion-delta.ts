/** What a chunk of a chat completion stream says, however the server worded it. */
export interface CompletionDelta {
  readonly text: string;
  readonly toolCalls: readonly ToolCallDelta[];
  readonly isFinished: boolean;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | null;
}

export interface ToolCallDelta {
  /** Null when the server doesn't number its calls. */
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
}

/**
 * Reads a chunk, or a whole completion sent at once. Fields that are missing or of the wrong sort count as absent.
 * Throws when the server reports an error in the stream.
 */
export function readDelta(chunk: unknown): CompletionDelta {
  const root = asRecord(chunk);
  if (root['error'] !== undefined && root['error'] !== null) throw new Error('the model reported an error');
  const choice = asRecord(asArray(root['choices'])[0]);
  const message = asRecord(choice['delta'] ?? choice['message']);
  return {
    text: asText(message['content']) || asText(message['refusal']),
    toolCalls: asArray(message['tool_calls']).map(readToolCall),
    isFinished: typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== '',
    usage: readUsage(root['usage']),
  };
}

function readToolCall(value: unknown): ToolCallDelta {
  const call = asRecord(value);
  const wanted = asRecord(call['function']);
  const args = wanted['arguments'];
  return {
    index: typeof call['index'] === 'number' ? call['index'] : null,
    id: asText(call['id']),
    name: asText(wanted['name']),
    // Some servers send the arguments as an object instead of its text.
    argumentsJson: typeof args === 'object' && args !== null ? JSON.stringify(args) : asText(args),
  };
}

function readUsage(value: unknown): CompletionDelta['usage'] {
  const usage = asRecord(value);
  const inputTokens = usage['prompt_tokens'];
  const outputTokens = usage['completion_tokens'];
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return null;
  return { inputTokens, outputTokens };
}

/** Text, also as a list of parts `{type: 'text', text}`. */
function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return asArray(value)
    .map((part) => asText(asRecord(part)['text']))
    .join('');
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
