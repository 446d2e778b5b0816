import type { LlmToolCall } from '../../llm-engine.ts';
import type { ToolCallDelta } from './completion-delta.ts';

interface Part {
  readonly index: number | null;
  id: string;
  name: string;
  argumentsJson: string;
}

/**
 * Puts tool calls together from their pieces. A piece without an index belongs to the call with its id, else to
 * the last call, unless it names a function while the last call has one.
 */
export class ToolCallAssembler {
  readonly #parts: Part[] = [];

  push(delta: ToolCallDelta): void {
    let part = this.#find(delta);
    if (!part) {
      part = { index: delta.index, id: '', name: '', argumentsJson: '' };
      this.#parts.push(part);
    }
    if (delta.id !== '') part.id = delta.id;
    // Some servers repeat the whole name with each piece.
    if (part.name !== delta.name) part.name += delta.name;
    part.argumentsJson += delta.argumentsJson;
  }

  /** The calls in the order in which they began. Ids are made up where the server gave none. */
  finish(): LlmToolCall[] {
    return this.#parts
      .filter((part) => part.name !== '')
      .map((part, i) => ({
        callId: part.id === '' ? `call_${i + 1}` : part.id,
        name: part.name,
        argumentsJson: part.argumentsJson === '' ? '{}' : part.argumentsJson,
      }));
  }

  #find(delta: ToolCallDelta): Part | undefined {
    if (delta.index !== null) return this.#parts.find((part) => part.index === delta.index);
    const same = this.#parts.find((part) => delta.id !== '' && part.id === delta.id);
    if (same) return same;
    const last = this.#parts.at(-1);
    const startsNew = delta.name !== '' && last !== undefined && last.name !== '';
    return startsNew ? undefined : last;
  }
}
