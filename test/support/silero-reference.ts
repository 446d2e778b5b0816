import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { sileroModel } from '../../media-worker/vad/engines/silero/build/model-source.ts';
import { projectFile } from '../../shared/project-file.ts';
import { pythonWith } from './python-venv.ts';

/** What onnxruntime says of each 512-sample frame, by the original model. Needs Python, pip and npm. */
export async function sileroReference(samples: Int16Array): Promise<Float32Array> {
  const [model, python] = await Promise.all([
    sileroModel(projectFile('node_modules/.cache/parley/silero')),
    pythonWith('onnxruntime', 'onnxruntime>=1.20,<2'),
  ]);
  const script = projectFile('test/support/silero_reference.py');
  const child = spawn(python, [script, model], { stdio: ['pipe', 'pipe', 'inherit'] });
  const output = buffer(child.stdout);
  const exited = once(child, 'exit');
  child.stdin.end(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
  const [code] = await exited;
  if (code !== 0) throw new Error(`the reference ended with code ${code}`);
  return new Float32Array(Uint8Array.from(await output).buffer);
}
