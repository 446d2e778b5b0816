import type { ChatMessage } from '../llm/llm-engine.ts';
import { heardMessage } from '../llm/prompt.ts';

/** Older messages than this many are forgotten by the model, oldest first; the transcript keeps them. */
const REMEMBERED_MESSAGES = 200;

/** What was said so far, as the model sees it: the caller's turns, and of the agent only what was heard. */
export class Conversation {
  #messages: ChatMessage[] = [];

  addUser(text: string): void {
    this.#add({ role: 'user', content: text });
  }

  /** `text` is what the caller heard; a reply that was cut off before its first word leaves nothing. */
  addAgent(text: string, wasInterrupted: boolean): void {
    const heard = heardMessage(text, wasInterrupted);
    if (heard) this.#add(heard);
  }

  messages(): readonly ChatMessage[] {
    return this.#messages;
  }

  #add(message: ChatMessage): void {
    this.#messages.push(message);
    while (this.#messages.length > REMEMBERED_MESSAGES) this.#messages.shift();
  }
}
