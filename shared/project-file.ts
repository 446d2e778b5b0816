import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Absolute path of a file shipped beside the source (WASM, weights, pages, the Python host), the same from
 * `dist/` and from the source tree. `path` is relative to the project's root.
 */
export function projectFile(path: string): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, 'package.json'))) {
    const parent = dirname(dir);
    if (parent === dir) throw new Error(`no package.json above ${dir}`);
    dir = parent;
  }
  return join(dir, path);
}
