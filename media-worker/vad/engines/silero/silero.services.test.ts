import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { projectFile } from '../../../../shared/project-file.ts';
import { sileroReference } from '../../../../test/support/silero-reference.ts';
import { longVadSignal, shortVadSignal, VAD_FRAME_SAMPLES } from '../../../../test/support/vad-signals.ts';
import { loadResampler } from '../../../codec/resample.ts';
import { sileroModel } from './build/model-source.ts';
import { readOnnxConstants } from './build/onnx-constants.ts';
import { packWeights } from './build/pack-weights.ts';
import { createSileroVad } from './silero-vad.ts';

async function judged(signal: Int16Array): Promise<Float32Array> {
  const stream = (await createSileroVad()).open();
  const probabilities = new Float32Array(Math.floor(signal.length / VAD_FRAME_SAMPLES));
  for (let i = 0; i < probabilities.length; i++) {
    probabilities[i] = stream.probability(
      signal.subarray(i * VAD_FRAME_SAMPLES, (i + 1) * VAD_FRAME_SAMPLES),
    );
  }
  return probabilities;
}

function furthest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] ?? Number.NaN))), 0);
}

test('ten minutes of speech, noise and silence are judged as by onnxruntime, within 1e-5', async () => {
  const signal = longVadSignal(await loadResampler());

  const [ours, reference] = [await judged(signal), await sileroReference(signal)];

  expect(reference).toHaveLength(18_750);
  // The signal must try both answers, or agreement would say little.
  const spoken = reference.filter((p) => p > 0.5).length / reference.length;
  expect(spoken).toBeGreaterThan(0.3);
  expect(spoken).toBeLessThan(0.7);
  expect(furthest(reference, ours)).toBeLessThan(1e-5);
});

test('the expectations of the unit test are those of onnxruntime', async () => {
  const fixture = await readFile(projectFile('test/fixtures/vad/silero-probabilities.json'), 'utf8');

  const reference = await sileroReference(shortVadSignal());

  expect(furthest(reference, JSON.parse(fixture))).toBeLessThan(2e-6);
});

test('the committed weights are those of the published model', async () => {
  const model = await readFile(await sileroModel(projectFile('node_modules/.cache/parley/silero')));

  const packed = packWeights(readOnnxConstants(model));

  const committed = await readFile(projectFile('media-worker/vad/engines/silero/silero.weights'));
  expect(Buffer.from(packed.buffer).equals(committed)).toBe(true);
});
