import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { projectFile } from '../../../../shared/project-file.ts';
import { silence } from '../../../../test/support/speech-samples.ts';
import { shortVadSignal, VAD_FRAME_SAMPLES } from '../../../../test/support/vad-signals.ts';
import { createSileroVad } from './silero-vad.ts';

test('each of 200 frames is judged as onnxruntime judges it, within 1e-5', async () => {
  const fixture = await readFile(projectFile('test/fixtures/vad/silero-probabilities.json'), 'utf8');
  const expected: number[] = JSON.parse(fixture);
  const stream = (await createSileroVad()).open();
  const signal = shortVadSignal();

  const off = expected.map((probability, i) => {
    const frame = signal.subarray(i * VAD_FRAME_SAMPLES, (i + 1) * VAD_FRAME_SAMPLES);
    return Math.abs(stream.probability(frame) - probability);
  });

  expect(off).toHaveLength(200);
  expect(Math.max(...off)).toBeLessThan(1e-5);
});

test('ten minutes of digital silence are never speech', async () => {
  const stream = (await createSileroVad()).open();
  const frame = silence(32);

  let highest = 0;
  for (let i = 0; i < 18_750; i++) highest = Math.max(highest, stream.probability(frame));

  expect(highest).toBeLessThan(0.2);
});
