import { execFile } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectFile } from '../../shared/project-file.ts';

const INSTALL_DEADLINE_MS = 180_000;

/**
 * A folder under node_modules/.cache with these packages (`name@version`) installed, without their scripts: clients
 * that the product itself must not depend on. Made where it is missing.
 */
export async function npmFolder(name: string, packages: readonly string[]): Promise<string> {
  const folder = projectFile(`node_modules/.cache/parley/${name}`);
  const stamp = join(folder, 'installed.json');
  const wanted = JSON.stringify(packages);
  const isThere = await access(stamp).then(
    () => true,
    () => false,
  );
  if (isThere) return folder;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  await promisify(execFile)('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], {
    cwd: folder,
    timeout: INSTALL_DEADLINE_MS,
  });
  await writeFile(stamp, wanted);
  return folder;
}
