import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The text of a file that is made once, readable by its owner alone, and never changed. Whoever makes it at the same
 * time, all read the same one, and nobody a part of it.
 */
export function keptFile(dir: string, name: string, make: () => string): string {
  const file = join(dir, name);
  if (!existsSync(file)) {
    mkdirSync(dir, { recursive: true });
    const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
    try {
      writeFileSync(draft, make(), { mode: 0o600, flag: 'wx', flush: true });
      // A link appears with its whole content or not at all, and never replaces.
      linkSync(draft, file);
    } catch (error) {
      if (!existsSync(file)) throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
  return readFileSync(file, 'utf8');
}
