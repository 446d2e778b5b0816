/** An event of the agent, whichever it is: the set may grow. */
export interface AgentEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** An event of the agent; null for what isn't one. */
export function readAgentEvent(payload: Uint8Array): AgentEvent | null {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(payload));
    const type = (event as { type?: unknown } | null)?.type;
    return typeof type === 'string' ? { ...(event as object), type } : null;
  } catch {
    return null;
  }
}

/** What to show of an event beside the talk; null when there is nothing to show. */
export function noteOf(event: AgentEvent): string | null {
  const tool = typeof event['toolName'] === 'string' ? event['toolName'] : 'a tool';
  switch (event.type) {
    case 'tool.started':
      return `Using ${tool}…`;
    case 'tool.failed':
      return `${tool} failed.`;
    case 'error':
      return event['code'] === 'provider_error'
        ? 'A speech or language engine failed; the conversation goes on.'
        : 'Something failed on the server; the conversation goes on.';
    default:
      return null;
  }
}
