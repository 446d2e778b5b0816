import type { ChatMessage, LlmRequest, LlmTool } from '../../llm-engine.ts';
import { CALL_HEADING, CUT_OFF_MARK, KNOWLEDGE_HEADING } from '../../prompt.ts';

/** A conversation as the rules look at it. */
export interface ConversationView {
  /** The agent's own prompt, without what is added for each call. */
  readonly instructions: string;
  readonly knowledge: string;
  /** What is added for each call: clock and manner of speaking. */
  readonly callNotes: string;
  /** How the first words are wanted; empty after them. */
  readonly greetingWish: string;
  /** All that the caller said since the agent's last words; null when the agent is to open the call. */
  readonly callerText: string | null;
  /** The caller's earlier turns, oldest first. */
  readonly earlierCallerTexts: readonly string[];
  /** The agent's last words, without the mark. */
  readonly lastAgentText: string;
  readonly wasCutOff: boolean;
  /** Results of the tools called since the caller spoke, oldest first. */
  readonly toolResults: readonly { readonly name: string; readonly content: string }[];
  /** The conversation as it was before the agent's last words. */
  readonly messagesBeforeLastAgent: readonly ChatMessage[];
  readonly tools: readonly LlmTool[];
  readonly language: string;
}

export function viewConversation(
  request: Pick<LlmRequest, 'messages' | 'tools' | 'language'>,
): ConversationView {
  const { messages } = request;
  const system = messages.find((message) => message.role === 'system')?.content ?? '';
  const lastAgentAt = messages.findLastIndex((m) => m.role === 'assistant' && m.content !== '');
  const lastAgentText = messages[lastAgentAt]?.content ?? '';
  const isCaller = (message: ChatMessage) => message.role === 'user';
  const sinceAgent = messages.slice(lastAgentAt + 1).filter(isCaller);
  const callerTexts = sinceAgent.map((message) => message.content.trim()).filter((text) => text !== '');
  return {
    ...splitSystem(system),
    greetingWish: messages.slice(1).findLast((message) => message.role === 'system')?.content ?? '',
    callerText: callerTexts.length > 0 ? callerTexts.join(' ') : null,
    earlierCallerTexts: messages
      .slice(0, lastAgentAt + 1)
      .filter(isCaller)
      .map((message) => message.content),
    lastAgentText: lastAgentText.endsWith(CUT_OFF_MARK)
      ? lastAgentText.slice(0, -CUT_OFF_MARK.length)
      : lastAgentText,
    wasCutOff: lastAgentText.endsWith(CUT_OFF_MARK),
    toolResults: toolResults(messages),
    messagesBeforeLastAgent: messages.slice(0, Math.max(0, lastAgentAt)),
    tools: request.tools,
    language: request.language,
  };
}

function splitSystem(system: string): { instructions: string; knowledge: string; callNotes: string } {
  const [own = '', callNotes = ''] = splitAtHeading(system, CALL_HEADING);
  const [instructions = '', knowledge = ''] = splitAtHeading(own, KNOWLEDGE_HEADING);
  return { instructions, knowledge: knowledge.replace(/^\s*Facts to answer from:/, ''), callNotes };
}

function splitAtHeading(text: string, heading: string): string[] {
  const at = text.lastIndexOf(`${heading}\n`);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + heading.length)];
}

function toolResults(messages: readonly ChatMessage[]): { name: string; content: string }[] {
  const lastCallerAt = messages.findLastIndex((message) => message.role === 'user');
  const names = new Map<string, string>();
  const results: { name: string; content: string }[] = [];
  for (const message of messages.slice(lastCallerAt + 1)) {
    if (message.role === 'assistant')
      for (const call of message.toolCalls ?? []) names.set(call.callId, call.name);
    if (message.role === 'tool')
      results.push({ name: names.get(message.callId) ?? '', content: message.content });
  }
  return results;
}
