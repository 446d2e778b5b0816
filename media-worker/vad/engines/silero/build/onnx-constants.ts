/** A tensor of 32-bit floats as the model file holds it, row-major. */
export interface Tensor {
  readonly dims: readonly number[];
  readonly values: Float32Array;
}

interface Field {
  readonly number: number;
  readonly value: bigint;
  /** The content of a length-delimited field, else empty. */
  readonly bytes: Uint8Array;
}

// Field numbers of onnx.proto.
const MODEL_GRAPH = 7;
const GRAPH_NODE = 1;
const NODE_OUTPUT = 2;
const NODE_OP_TYPE = 4;
const NODE_ATTRIBUTE = 5;
const ATTRIBUTE_TENSOR = 5;
const ATTRIBUTE_GRAPH = 6;
const TENSOR_DIMS = 1;
const TENSOR_DATA_TYPE = 2;
const TENSOR_RAW_DATA = 9;
const FLOAT = 1n;

/**
 * The float tensors of all Constant nodes of an ONNX file, those in branches of If nodes too, by the name of the
 * node's output. Reads as much of the protobuf encoding as that needs.
 */
export function readOnnxConstants(file: Uint8Array): Map<string, Tensor> {
  const found = new Map<string, Tensor>();
  for (const graph of children(file, MODEL_GRAPH)) collect(graph, found);
  return found;
}

function collect(graph: Uint8Array, found: Map<string, Tensor>): void {
  for (const node of children(graph, GRAPH_NODE)) {
    const isConstant = children(node, NODE_OP_TYPE).some((type) => text(type) === 'Constant');
    for (const attribute of children(node, NODE_ATTRIBUTE)) {
      for (const inner of children(attribute, ATTRIBUTE_GRAPH)) collect(inner, found);
      const output = children(node, NODE_OUTPUT)[0];
      const encoded = isConstant ? children(attribute, ATTRIBUTE_TENSOR)[0] : undefined;
      const tensor = encoded && floatTensor(encoded);
      if (output && tensor) found.set(text(output), tensor);
    }
  }
}

function floatTensor(encoded: Uint8Array): Tensor | null {
  const all = fields(encoded);
  if (all.find((f) => f.number === TENSOR_DATA_TYPE)?.value !== FLOAT) return null;
  const raw = all.find((f) => f.number === TENSOR_RAW_DATA)?.bytes;
  if (!raw) return null;
  const dims = all.filter((f) => f.number === TENSOR_DIMS).flatMap(repeatedInts);
  return { dims, values: new Float32Array(Uint8Array.from(raw).buffer) };
}

/** A repeated integer field comes packed or one by one. */
function repeatedInts(field: Field): number[] {
  if (field.bytes.length === 0) return [Number(field.value)];
  const values: number[] = [];
  for (let at = 0; at < field.bytes.length; ) {
    const read = varint(field.bytes, at);
    values.push(Number(read.value));
    at = read.end;
  }
  return values;
}

function children(message: Uint8Array, number: number): Uint8Array[] {
  return fields(message)
    .filter((f) => f.number === number)
    .map((f) => f.bytes);
}

function fields(message: Uint8Array): Field[] {
  const found: Field[] = [];
  for (let at = 0; at < message.length; ) {
    const key = varint(message, at);
    const field = read(message, key.end, Number(key.value & 7n));
    found.push({ number: Number(key.value >> 3n), value: field.value, bytes: field.bytes });
    at = field.end;
  }
  return found;
}

function read(
  message: Uint8Array,
  at: number,
  wireType: number,
): { value: bigint; bytes: Uint8Array; end: number } {
  const nothing = new Uint8Array(0);
  if (wireType === 0) return { ...varint(message, at), bytes: nothing };
  if (wireType === 1) return { value: 0n, bytes: nothing, end: at + 8 };
  if (wireType === 5) return { value: 0n, bytes: nothing, end: at + 4 };
  if (wireType !== 2) throw new Error(`wire type ${wireType} at byte ${at} is not protobuf`);
  const length = varint(message, at);
  const end = length.end + Number(length.value);
  return { value: 0n, bytes: message.subarray(length.end, end), end };
}

function varint(message: Uint8Array, at: number): { value: bigint; end: number } {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = message[at++];
    if (byte === undefined) throw new Error('the protobuf message ends within a number');
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return { value, end: at };
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
