import type { TurnCommand, TurnEvent } from '../turn/turn-event.ts';

const CHUNK_LINES = 64;
const MAX_LINES = 20_000;

/**
 * The turn machine's event log: one JSON line per event that led to a command, and for every transcript, in order.
 * Replaying its events gives the same commands. Past 20,000 lines it stops and says so in its last line.
 */
export class DecisionLog {
  readonly #publish: (lines: Uint8Array) => void;
  #pending: string[] = [];
  #count = 0;

  constructor(publish: (lines: Uint8Array) => void) {
    this.#publish = publish;
  }

  add(event: TurnEvent, commands: readonly TurnCommand[]): void {
    if (this.#count > MAX_LINES) return;
    this.#count++;
    this.#pending.push(this.#count > MAX_LINES ? '{"truncated":true}' : JSON.stringify({ event, commands }));
    if (this.#pending.length >= CHUNK_LINES) this.flush();
  }

  flush(): void {
    if (this.#pending.length === 0) return;
    this.#publish(new TextEncoder().encode(`${this.#pending.join('\n')}\n`));
    this.#pending = [];
  }
}
