import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectFile } from '../../shared/project-file.ts';

const INSTALL_DEADLINE_MS = 180_000;

/**
 * Path of a Python that can import `module`, in a virtual environment of the tests' own under node_modules/.cache.
 * Made, and `requirement` installed with pip, where it is missing.
 */
export async function pythonWith(module: string, requirement: string): Promise<string> {
  const run = promisify(execFile);
  const venv = projectFile('node_modules/.cache/parley/venv');
  const python = join(venv, 'bin', 'python');
  const imports = run(python, ['-c', `import ${module}`]);
  if (
    await imports.then(
      () => true,
      () => false,
    )
  )
    return python;
  await run('python3', ['-m', 'venv', venv], { timeout: INSTALL_DEADLINE_MS });
  await run(python, ['-m', 'pip', 'install', '--quiet', requirement], { timeout: INSTALL_DEADLINE_MS });
  return python;
}
