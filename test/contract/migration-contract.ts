import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import type { Document, Store } from '../../control-plane/storage/collection.ts';
import { migrate, NewerSchema } from '../../control-plane/storage/migrate.ts';
import type { Migration } from '../../control-plane/storage/migrations/migration.ts';
import { silentLogger } from '../../shared/log.ts';
import { projectFile } from '../../shared/project-file.ts';

interface OldSession extends Document {
  readonly direction?: 'inbound' | 'outbound';
  readonly schemaVersion?: number;
  readonly workspaceId: string;
}

interface Subject {
  readonly store: Store;
  /** What `migration-process.ts` takes to open the same store. */
  readonly processArgs: readonly string[];
  readonly remove: () => Promise<void>;
}

const OLD_COUNT = 900;
const PROCESS_LIMIT_MS = 60_000;

const idOf = (n: number) => `ses_${String(n).padStart(6, '0')}`;

async function addOldSessions(store: Store): Promise<void> {
  const sessions = store.collection<OldSession>('sessions');
  for (let from = 0; from < OLD_COUNT; from += 50) {
    const lot = Array.from({ length: 50 }, (_, i) => from + i);
    await Promise.all(lot.map((n) => sessions.insertOne({ _id: idOf(n), workspaceId: 'w' })));
  }
}

const all = (store: Store) => store.collection<OldSession>('sessions').find({}, { sort: { _id: 1 } });

/** Runs the migrations in a process of its own; answers how many documents it changed and what ended it. */
async function migrateElsewhere(args: readonly string[], killAfter = Number.POSITIVE_INFINITY) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', projectFile('test/contract/migration-process.ts'), ...args],
    { stdio: ['ignore', 'pipe', 'inherit'], timeout: PROCESS_LIMIT_MS, killSignal: 'SIGKILL' },
  );
  const exited = once(child, 'exit');
  let changed = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    changed = Number(line);
    if (changed >= killAfter) child.kill('SIGKILL');
  }
  const [code, signal] = await exited;
  return { changed, code, signal };
}

/** Every sentence a migration promises, on one kind of store. */
export function migrationContract(open: () => Promise<Subject>): void {
  async function setUp() {
    const subject = await open();
    onTestFinished(() => subject.remove());
    return subject;
  }

  test('session records without a direction become inbound, the others keep theirs', async () => {
    const { store } = await setUp();
    const sessions = store.collection<OldSession>('sessions');
    await sessions.insertOne({ _id: 'ses_a', workspaceId: 'w' });
    await sessions.insertOne({ _id: 'ses_b', workspaceId: 'w', direction: 'outbound' });
    await sessions.insertOne({ _id: 'ses_c', workspaceId: 'w', direction: 'inbound', schemaVersion: 2 });

    await migrate(store, silentLogger);

    expect(await all(store)).toEqual([
      { _id: 'ses_a', workspaceId: 'w', direction: 'inbound', schemaVersion: 2 },
      { _id: 'ses_b', workspaceId: 'w', direction: 'outbound', schemaVersion: 2 },
      { _id: 'ses_c', workspaceId: 'w', direction: 'inbound', schemaVersion: 2 },
    ]);
  });

  test('kill -9 at any point leaves a migration that goes on where it was and changes every record once', async () => {
    const { store, processArgs } = await setUp();
    await addOldSessions(store);

    const first = await migrateElsewhere(processArgs, 130);
    const afterFirst = (await all(store)).filter(({ schemaVersion }) => schemaVersion === 2).length;
    const second = await migrateElsewhere(processArgs, 340);
    const third = await migrateElsewhere(processArgs);

    expect([first.signal, second.signal, third.code]).toEqual(['SIGKILL', 'SIGKILL', 0]);
    expect(afterFirst).toBeGreaterThanOrEqual(130);
    expect(afterFirst).toBeLessThan(OLD_COUNT);
    expect(third.changed).toBeGreaterThan(0);
    expect(third.changed).toBeLessThan(OLD_COUNT - 340);
    const records = await all(store);
    expect(records).toEqual(
      Array.from({ length: OLD_COUNT }, (_, n) => ({
        _id: idOf(n),
        workspaceId: 'w',
        direction: 'inbound',
        schemaVersion: 2,
      })),
    );
    // Whoever starts next finds nothing to do.
    expect(await migrateElsewhere(processArgs)).toEqual({ changed: 0, code: 0, signal: null });
  });

  test('two processes at once change every record once', async () => {
    const { store, processArgs } = await setUp();
    await addOldSessions(store);

    const both = await Promise.all([migrateElsewhere(processArgs), migrateElsewhere(processArgs)]);

    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.reduce((sum, { changed }) => sum + changed, 0)).toBe(OLD_COUNT);
    expect((await all(store)).every(({ direction }) => direction === 'inbound')).toBe(true);
  });

  test('a record from before several migrations goes through each of them, in order', async () => {
    const { store } = await setUp();
    const things = store.collection<Document & { steps?: string }>('things');
    await things.insertOne({ _id: 't' });
    const step = (toVersion: number): Migration => ({
      collection: 'things',
      toVersion,
      fieldsFor: (doc) => ({ steps: `${doc['steps'] ?? ''}${toVersion}` }),
    });

    await migrate(store, silentLogger, [step(2)]);
    await migrate(store, silentLogger, [step(2), step(3), step(4)]);

    expect(await things.findOne({ _id: 't' })).toEqual({ _id: 't', steps: '234', schemaVersion: 4 });
  });

  test('a store of a newer program is refused and left alone', async () => {
    const { store } = await setUp();
    const steps = [2, 3].map((toVersion) => ({ collection: 'sessions', toVersion, fieldsFor: () => ({}) }));
    await migrate(store, silentLogger, steps);
    await store.collection<OldSession>('sessions').insertOne({ _id: 'ses_a', workspaceId: 'w' });

    await expect(migrate(store, silentLogger)).rejects.toThrow(NewerSchema);
    expect(await all(store)).toEqual([{ _id: 'ses_a', workspaceId: 'w' }]);
  });
}
