import type { LlmEngine, LlmEvent, LlmRequest } from '../llm-engine.ts';
import { compose } from './builtin/compose.ts';
import { type ConversationView, viewConversation } from './builtin/conversation-view.ts';
import { FactSearch } from './builtin/fact-search.ts';
import { readFacts } from './builtin/facts.ts';

/** Indexes of this many agents' texts are kept; the oldest goes first. */
const KEPT_INDEXES = 32;

/**
 * Answers without a model, by rules, from the agent's prompt and knowledge; the same conversation always gets the
 * same reply. It says openly what it is when asked. It needs no connection and can't fail.
 */
export class BuiltinResponder implements LlmEngine {
  readonly name = 'builtin';
  readonly #searches = new Map<string, FactSearch>();
  #calls = 0;

  async *reply(request: LlmRequest, signal: AbortSignal): AsyncIterable<LlmEvent> {
    if (signal.aborted) return;
    const { text, toolCall } = compose(viewConversation(request), (view) => this.#searchIn(view));
    for (const piece of text.match(/\S+\s*/g) ?? []) {
      if (signal.aborted) return;
      yield { type: 'text', text: piece };
    }
    if (!toolCall || signal.aborted) return;
    yield {
      type: 'tool_call',
      call: {
        callId: `call_${++this.#calls}`,
        name: toolCall.name,
        argumentsJson: JSON.stringify(toolCall.args),
      },
    };
  }

  async prewarm(): Promise<void> {}

  #searchIn({ instructions, knowledge }: ConversationView): FactSearch {
    const key = `${instructions}\0${knowledge}`;
    let search = this.#searches.get(key);
    if (!search) {
      search = new FactSearch(readFacts(instructions, knowledge));
      this.#searches.set(key, search);
      const oldest = this.#searches.keys().next();
      if (this.#searches.size > KEPT_INDEXES && !oldest.done) this.#searches.delete(oldest.value);
    }
    return search;
  }
}
