import { appendFile, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { EventSpool } from './event-spool.ts';
import { claimLeftSpools, spoolName } from './left-spools.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-spool-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

function createSpool(maxBytes = 1_000_000, path = join(dir, 'x.spool')): EventSpool {
  return new EventSpool({ path, maxBytes, log: silentLogger });
}

async function readAll(spool: EventSpool): Promise<string[]> {
  const texts: string[] = [];
  while (spool.hasUnread) for (const record of await spool.read()) texts.push(record.toString());
  return texts;
}

test('records come back in order, whole, also while others are appended', async () => {
  const spool = createSpool(10_000_000);
  const records = Array.from({ length: 500 }, (_, n) => `${n}:${'x'.repeat(n * 4)}`);

  for (const record of records.slice(0, 250)) spool.append(Buffer.from(record), false);
  const first = (await spool.read()).map(String);
  for (const record of records.slice(250)) spool.append(Buffer.from(record), false);

  expect([...first, ...(await readAll(spool))]).toEqual(records);
  await spool.close();
});

test('a record larger than one read comes back whole', async () => {
  const spool = createSpool(10_000_000);
  const large = 'y'.repeat(1_000_000);

  for (const record of ['a', large, 'b']) spool.append(Buffer.from(record), false);

  expect(await readAll(spool)).toEqual(['a', large, 'b']);
  await spool.close();
});

test('what was marked as read is on disk and does not come back', async () => {
  const spool = createSpool();

  spool.append(Buffer.from('seen'), true);
  expect(spool.hasUnread).toBe(false);
  spool.append(Buffer.from('new'), false);

  expect(await readAll(spool)).toEqual(['new']);
  await spool.close();
  expect((await stat(spool.path)).size).toBe(4 + 4 + 4 + 3);
  expect((await stat(spool.path)).mode & 0o777).toBe(0o600);
});

test('a record can not be marked as read before one that is not', async () => {
  const spool = createSpool();
  spool.append(Buffer.from('unread'), false);

  expect(spool.append(Buffer.from('read'), true)).toBe(false);
  expect(await readAll(spool)).toEqual(['unread']);
  await spool.close();
});

test('a file of a dead process is read from its start, and a torn record at its end is ignored', async () => {
  const before = createSpool();
  for (const record of ['one', 'two']) before.append(Buffer.from(record), true);
  await before.close();
  await appendFile(before.path, Buffer.from([0, 0, 0, 9, 1, 2]));

  const { size } = await stat(before.path);
  const after = new EventSpool({ path: before.path, maxBytes: size, log: silentLogger }, size);

  expect(await readAll(after)).toEqual(['one', 'two']);
  await after.remove();
  expect(await readdir(dir)).toEqual([]);
});

test('past its longest the file refuses', () => {
  const spool = createSpool(20);

  expect(spool.append(Buffer.alloc(10), false)).toBe(true);
  expect(spool.append(Buffer.alloc(10), false)).toBe(false);
});

test('records that the disk refuses stay readable in memory', async () => {
  const spool = createSpool(1_000, join(dir, 'missing', 'x.spool'));

  spool.append(Buffer.from('seen'), true);
  spool.append(Buffer.from('a'), false);
  spool.append(Buffer.from('b'), false);

  expect(await readAll(spool)).toEqual(['a', 'b']);
  spool.append(Buffer.from('c'), false);
  expect(await readAll(spool)).toEqual(['c']);
  await spool.close();
});

test('spools of dead processes are taken by one worker; those of live ones are left alone', async () => {
  const nowMs = Date.now();
  const isAlive = (pid: number) => [2, 7, 8].includes(pid);
  const owner = (pid: number, token: string, host = 'here') => ({ host, pid, token, isAlive });
  const alive = spoolName(owner(2, 'alive'), 0);
  const elsewhere = spoolName(owner(1, 'elsewhere', 'there'), 0);
  const stale = spoolName(owner(1, 'stale', 'there'), 0);
  const left = [spoolName(owner(1, 'dead'), 0), spoolName(owner(7, 'earlier life'), 0), stale];
  for (const name of [alive, elsewhere, ...left]) await writeFile(join(dir, name), 'x');
  await utimes(join(dir, stale), nowMs / 1_000 - 61, nowMs / 1_000 - 61);

  const claims = await Promise.all(
    [7, 8].map((pid) => {
      let index = 0;
      return claimLeftSpools(dir, owner(pid, `now ${pid}`), nowMs, () => index++);
    }),
  );

  expect(new Set(claims.flat().map((claim) => claim.path))).toHaveLength(3);
  expect(claims.flat()).toHaveLength(3);
  const names = await readdir(dir);
  expect(names).toHaveLength(5);
  expect(names).toEqual(expect.arrayContaining([alive, elsewhere]));
  for (const name of left) expect(names).not.toContain(name);
});
