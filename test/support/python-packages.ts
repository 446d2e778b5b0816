import { execFile } from 'node:child_process';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectFile } from '../../shared/project-file.ts';

const INSTALL_DEADLINE_MS = 300_000;

/** Path of a Python with these packages (`name==version`), in a virtual environment of its own; made where it is missing. */
export async function pythonWithPackages(name: string, packages: readonly string[]): Promise<string> {
  const run = promisify(execFile);
  const venv = projectFile(`node_modules/.cache/parley/${name}`);
  const python = join(venv, 'bin', 'python');
  const stamp = join(venv, 'installed.json');
  const isThere = await access(stamp).then(
    () => true,
    () => false,
  );
  if (isThere) return python;
  await run('python3', ['-m', 'venv', venv], { timeout: INSTALL_DEADLINE_MS });
  await run(python, ['-m', 'pip', 'install', '--quiet', ...packages], { timeout: INSTALL_DEADLINE_MS });
  await writeFile(stamp, JSON.stringify(packages));
  return python;
}
