import type { ChatMessage, LlmRequest } from '../../llm-engine.ts';

export interface CompletionOptions {
  readonly model: string;
  /** Adds `session_id` and `user_id`; services that refuse unknown fields must be spared them. */
  readonly sendsSessionFields: boolean;
  readonly asksForUsage: boolean;
}

/** The JSON body of `POST /chat/completions`. */
export function completionBody(request: LlmRequest, options: CompletionOptions): string {
  const tools = request.tools.map((tool) => ({ type: 'function', function: tool }));
  return JSON.stringify({
    model: options.model,
    stream: true,
    messages: request.messages.map(toWire),
    ...(tools.length > 0 ? { tools } : {}),
    ...(options.asksForUsage ? { stream_options: { include_usage: true } } : {}),
    ...(options.sendsSessionFields ? { session_id: request.sessionId } : {}),
    ...(options.sendsSessionFields && request.endUserId !== '' ? { user_id: request.endUserId } : {}),
  });
}

function toWire(message: ChatMessage): object {
  if (message.role === 'tool')
    return { role: 'tool', tool_call_id: message.callId, content: message.content };
  if (message.role !== 'assistant' || !message.toolCalls || message.toolCalls.length === 0)
    return { role: message.role, content: message.content };
  return {
    role: 'assistant',
    content: message.content === '' ? null : message.content,
    tool_calls: message.toolCalls.map((call) => ({
      id: call.callId,
      type: 'function',
      function: { name: call.name, arguments: call.argumentsJson },
    })),
  };
}
