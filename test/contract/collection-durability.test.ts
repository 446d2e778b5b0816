import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';
import { projectFile } from '../../shared/project-file.ts';

interface Event {
  readonly _id: string;
  readonly n: number;
}

const WRITER_LIMIT_MS = 10_000;

/** Runs the writer until it has acknowledged `count` writes, kills it, and says what it acknowledged last. */
async function writeUntilKilled(file: string, count: number): Promise<number> {
  const writer = spawn(
    process.execPath,
    ['--import', 'tsx', projectFile('test/contract/collection-writer.ts'), file],
    { stdio: ['ignore', 'pipe', 'inherit'], timeout: WRITER_LIMIT_MS, killSignal: 'SIGKILL' },
  );
  const exited = once(writer, 'exit');
  let last = 0;
  for await (const line of createInterface({ input: writer.stdout })) {
    last = Number(line);
    if (last === count) writer.kill('SIGKILL');
  }
  const [, signal] = await exited;
  expect(signal).toBe('SIGKILL');
  return last;
}

/** Starts another process that adds 1 to a counter, again and again. */
async function addElsewhere(file: string, times: number): Promise<void> {
  const adder = spawn(
    process.execPath,
    ['--import', 'tsx', projectFile('test/contract/collection-adder.ts'), file, String(times)],
    { stdio: ['ignore', 'ignore', 'inherit'], timeout: WRITER_LIMIT_MS, killSignal: 'SIGKILL' },
  );
  const [code] = await once(adder, 'exit');
  expect(code).toBe(0);
}

test('processes that write to one file at once lose none of each other’s updates', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-durability-'));
  const file = join(folder, 'store.db');

  await Promise.all([addElsewhere(file, 300), addElsewhere(file, 300)]);

  const store = openEmbeddedStore({ file });
  const counter = await store.collection('counters').findOne({ _id: 'c' });
  await store.close();
  await rm(folder, { recursive: true });
  expect(counter).toEqual({ _id: 'c', n: 600 });
});

test('kill -9 of the writer loses no acknowledged write', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-durability-'));
  const file = join(folder, 'store.db');

  const acknowledged = await writeUntilKilled(file, 200);

  const store = openEmbeddedStore({ file });
  const events = store.collection<Event>('events');
  const stored = await events.find({}, { sort: { n: 1 } });
  const counter = await store.collection<{ _id: string; last: number }>('counters').findOne({ _id: 'c' });
  await events.insertOne({ _id: 'after', n: -1 });
  await store.close();
  await rm(folder, { recursive: true });
  expect(acknowledged).toBeGreaterThanOrEqual(200);
  expect(stored.length).toBeGreaterThanOrEqual(acknowledged);
  expect(stored.map(({ n }) => n)).toEqual(stored.map((_, i) => i + 1));
  expect(counter?.last).toBeGreaterThanOrEqual(acknowledged);
});
