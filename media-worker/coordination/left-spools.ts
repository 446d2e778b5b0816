import { mkdir, readdir, rename, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

const SUFFIX = '.spool';
/** A live process touches its spool far more often than this. */
const ABANDONED_AFTER_MS = 60_000;

/** Who writes spools here. `token` differs between two lives of a process with the same id. */
export interface SpoolOwner {
  readonly host: string;
  readonly pid: number;
  readonly token: string;
  /** Whether a process of this host is running. */
  readonly isAlive: (pid: number) => boolean;
}

export interface LeftSpool {
  readonly path: string;
  readonly bytes: number;
}

/** File name of the owner's spool number `index`. */
export function spoolName(owner: SpoolOwner, index: number): string {
  return `${encodeURIComponent(owner.host)}~${owner.pid}~${owner.token}~${index}${SUFFIX}`;
}

/**
 * Takes over the spools in `dir` that dead processes left, by renaming them, so that of several workers one gets
 * each. A spool of this host is dead with its process; one of another host when nobody has touched it for a minute.
 */
export async function claimLeftSpools(
  dir: string,
  owner: SpoolOwner,
  nowMs: number,
  nextIndex: () => number,
): Promise<LeftSpool[]> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const claimed: LeftSpool[] = [];
  for (const name of (await readdir(dir)).sort()) {
    if (!name.endsWith(SUFFIX)) continue;
    const path = join(dir, name);
    const found = await stat(path).catch(() => null);
    if (!found || !isLeft(name, owner, nowMs - found.mtimeMs)) continue;
    const taken = join(dir, spoolName(owner, nextIndex()));
    const isMine = await rename(path, taken).then(
      () => true,
      () => false,
    );
    if (isMine) claimed.push({ path: taken, bytes: found.size });
  }
  return claimed;
}

/** Says that the spool's process lives. */
export async function touchSpool(path: string, nowMs: number): Promise<void> {
  await utimes(path, nowMs / 1_000, nowMs / 1_000).catch(() => {});
}

function isLeft(name: string, owner: SpoolOwner, idleMs: number): boolean {
  const [host, pid, token] = name.slice(0, -SUFFIX.length).split('~');
  if (token === owner.token) return false;
  if (host !== encodeURIComponent(owner.host)) return idleMs > ABANDONED_AFTER_MS;
  // A process with this very id that isn't this one is an earlier life of it.
  return Number(pid) === owner.pid || !owner.isAlive(Number(pid)) || idleMs > ABANDONED_AFTER_MS;
}
