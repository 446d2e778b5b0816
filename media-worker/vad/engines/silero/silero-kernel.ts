import { readFile } from 'node:fs/promises';
import { projectFile } from '../../../../shared/project-file.ts';

const FOLDER = 'media-worker/vad/engines/silero';
const PAGE_BYTES = 65_536;

/** What silero.wasm offers; addresses are bytes in its memory. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  /** Memory from here on is free for streams. */
  readonly streams: () => number;
  readonly model: () => number;
  readonly model_bytes: () => number;
  readonly input: () => number;
  readonly stream_bytes: () => number;
  readonly probability: (stream: number) => number;
}

/**
 * The model in one WebAssembly instance and the states of all its streams in that instance's memory, each in a
 * slot of its own. Memory grows with the most streams that were ever open together and stays.
 */
export class SileroKernel {
  readonly #exports: Exports;
  readonly #streamBytes: number;
  /** Views die when the memory grows; they are made anew then. */
  #input: Int16Array;
  #bytes: Uint8Array;
  #nextSlot: number;
  readonly #freeSlots: number[] = [];

  static async load(): Promise<SileroKernel> {
    const [code, weights] = await Promise.all([
      readFile(projectFile(`${FOLDER}/silero.wasm`)),
      readFile(projectFile(`${FOLDER}/silero.weights`)),
    ]);
    const kernel = await WebAssembly.compile(new Uint8Array(code));
    return new SileroKernel(kernelExports(await WebAssembly.instantiate(kernel, {})), weights);
  }

  constructor(exports: Exports, weights: Uint8Array) {
    this.#exports = exports;
    if (weights.length !== exports.model_bytes()) {
      throw new Error(
        `silero.weights has ${weights.length} bytes, silero.wasm wants ${exports.model_bytes()}`,
      );
    }
    this.#streamBytes = exports.stream_bytes();
    this.#nextSlot = alignedTo16(exports.streams());
    this.#bytes = new Uint8Array(exports.memory.buffer);
    this.#input = new Int16Array(exports.memory.buffer, exports.input(), 512);
    this.#bytes.set(weights, exports.model());
  }

  /** A slot with a forgotten past. */
  take(): number {
    const slot = this.#freeSlots.pop() ?? this.#newSlot();
    this.clear(slot);
    return slot;
  }

  give(slot: number): void {
    this.#freeSlots.push(slot);
  }

  clear(slot: number): void {
    this.#bytes.fill(0, slot, slot + this.#streamBytes);
  }

  /** `samples` has 512 samples. Allocates nothing. */
  probability(slot: number, samples: Int16Array): number {
    this.#input.set(samples);
    return this.#exports.probability(slot);
  }

  #newSlot(): number {
    const slot = this.#nextSlot;
    this.#nextSlot = slot + alignedTo16(this.#streamBytes);
    const { memory } = this.#exports;
    if (this.#nextSlot > memory.buffer.byteLength) {
      memory.grow(Math.ceil((this.#nextSlot - memory.buffer.byteLength) / PAGE_BYTES));
      this.#bytes = new Uint8Array(memory.buffer);
      this.#input = new Int16Array(memory.buffer, this.#exports.input(), 512);
    }
    return slot;
  }
}

function alignedTo16(bytes: number): number {
  return Math.ceil(bytes / 16) * 16;
}

/** Checked by name once, so that a kernel from another build fails at start and not at the first frame. */
function kernelExports(instance: WebAssembly.Instance): Exports {
  const { exports } = instance;
  const memory = exports['memory'];
  if (!(memory instanceof WebAssembly.Memory)) throw new Error('silero.wasm exports no memory');
  const number = (name: string) => {
    const exported = exports[name];
    if (typeof exported !== 'function') throw new Error(`silero.wasm exports no ${name}`);
    return exported as (stream?: number) => number;
  };
  return {
    memory,
    streams: number('streams'),
    model: number('model'),
    model_bytes: number('model_bytes'),
    input: number('input'),
    stream_bytes: number('stream_bytes'),
    probability: number('probability'),
  };
}
