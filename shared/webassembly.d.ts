/**
 * The part of the WebAssembly JavaScript interface (https://www.w3.org/TR/wasm-js-api-2/) that is used here.
 * Node has it; neither the compiler's ES library nor Node's types declare it.
 */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: ArrayBufferView | ArrayBuffer);
  }
  class Instance {
    constructor(module: Module, imports?: Readonly<Record<string, Readonly<Record<string, unknown>>>>);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  function compile(bytes: ArrayBufferView | ArrayBuffer): Promise<Module>;
  function instantiate(
    module: Module,
    imports?: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ): Promise<Instance>;
}
