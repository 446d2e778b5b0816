import type { Tensor } from './onnx-constants.ts';

const BRANCH_16_KHZ = 'If_0_then_branch__Inline_0__';
const FFT = 256;
const HALF = 128;
const HIDDEN = 128;
/** The model's transform is a windowed DFT to within this; a model of another kind is refused. */
const BASIS_TOLERANCE = 1e-6;

/**
 * The model's 16 kHz branch in the order and packing of `struct Model` in silero.c: little-endian 32-bit floats,
 * output channels side by side so that one SIMD load feeds four of them, taps that only ever meet padding left out.
 */
export function packWeights(constants: ReadonlyMap<string, Tensor>): Float32Array {
  const tensor = (name: string, ...dims: number[]) => {
    const found = constants.get(BRANCH_16_KHZ + name);
    if (found?.dims.join() !== dims.join()) {
      throw new Error(`the model has no ${name} of shape ${dims.join('×')}`);
    }
    return found.values;
  };
  const encoder = (layer: number, outs: number, ins: number, block: number, taps: readonly number[]) => [
    ...packConvolution(tensor(`encoder.${layer}.reparam_conv.weight`, outs, ins, 3), outs, ins, block, taps),
    ...tensor(`encoder.${layer}.reparam_conv.bias`, outs),
  ];
  return Float32Array.from([
    ...windowOf(tensor('stft.forward_basis_buffer', FFT + 2, 1, FFT)),
    ...twiddles(HALF, HALF / 2),
    ...twiddles(FFT, HALF),
    ...encoder(0, 128, 129, 8, [0, 1, 2]),
    ...encoder(1, 64, 128, 16, [0, 1, 2]),
    ...encoder(2, 64, 64, 32, [1, 2]),
    ...encoder(3, 128, 64, 32, [1]),
    ...packLstm(
      tensor('decoder.rnn.weight_ih', 4 * HIDDEN, HIDDEN),
      tensor('decoder.rnn.weight_hh', 4 * HIDDEN, HIDDEN),
    ),
    ...packLstmBias(tensor('decoder.rnn.bias_ih', 4 * HIDDEN), tensor('decoder.rnn.bias_hh', 4 * HIDDEN)),
    ...tensor('decoder.decoder.2.weight', 1, HIDDEN, 1),
    // In the first lane of four: the kernel starts its sum with this vector.
    ...tensor('decoder.decoder.2.bias', 1),
    ...[0, 0, 0],
  ]);
}

/** The first row of the basis is the window itself; every other is the window times a cosine or a sine. */
function windowOf(basis: Float32Array): Float32Array {
  const window = basis.slice(0, FFT);
  for (let row = 0; row < FFT + 2; row++) {
    const bin = row % (HALF + 1);
    for (let n = 0; n < FFT; n++) {
      const angle = (2 * Math.PI * bin * n) / FFT;
      const wave = row <= HALF ? Math.cos(angle) : -Math.sin(angle);
      const off = Math.abs(at(basis, row * FFT + n) - at(window, n) * wave);
      if (off > BASIS_TOLERANCE) throw new Error(`row ${row} of the model's transform is not a windowed DFT`);
    }
  }
  return window;
}

/** e^(−2πik/size) for k < count, real and imaginary part in turn. */
function twiddles(size: number, count: number): number[] {
  return Array.from({ length: count }, (_, k) => {
    const angle = (-2 * Math.PI * k) / size;
    return [Math.cos(angle), Math.sin(angle)];
  }).flat();
}

/** [out][in][3] → [out / block][in][tap][block]. */
function packConvolution(
  weight: Float32Array,
  outs: number,
  ins: number,
  block: number,
  taps: readonly number[],
): number[] {
  const packed: number[] = [];
  for (let first = 0; first < outs; first += block) {
    for (let input = 0; input < ins; input++) {
      for (const tap of taps) {
        for (let out = first; out < first + block; out++)
          packed.push(at(weight, (out * ins + input) * 3 + tap));
      }
    }
  }
  return packed;
}

/** [gate × hidden][in] of the input and of the hidden state → [hidden / 8][input, then hidden][gate][8]. */
function packLstm(fromInput: Float32Array, fromHidden: Float32Array): number[] {
  const packed: number[] = [];
  for (let first = 0; first < HIDDEN; first += 8) {
    for (const weight of [fromInput, fromHidden]) {
      for (let input = 0; input < HIDDEN; input++) {
        for (const row of gateRows(first)) packed.push(at(weight, row * HIDDEN + input));
      }
    }
  }
  return packed;
}

function packLstmBias(ofInput: Float32Array, ofHidden: Float32Array): number[] {
  const packed: number[] = [];
  for (let first = 0; first < HIDDEN; first += 8) {
    for (const row of gateRows(first)) packed.push(at(ofInput, row) + at(ofHidden, row));
  }
  return packed;
}

/** Rows of the gates input, forget, cell, output for eight hidden units from `first` on. */
function gateRows(first: number): number[] {
  return [0, 1, 2, 3].flatMap((gate) => Array.from({ length: 8 }, (_, unit) => gate * HIDDEN + first + unit));
}

function at(values: Float32Array, index: number): number {
  const value = values[index];
  if (value === undefined) throw new Error(`a weight of the model has no element ${index}`);
  return value;
}
