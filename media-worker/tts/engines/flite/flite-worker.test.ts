import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../../../shared/log.ts';
import { threadEntry } from '../../../../shared/thread-entry.ts';
import { systemClock } from '../../../../shared/time.ts';
import { FakeClock } from '../../../../test/fakes/fake-clock.ts';
import type { FliteJob } from './flite-protocol.ts';
import { FliteWorker } from './flite-worker.ts';

const JOB: FliteJob = {
  piece: { tokens: ['Hello'], spokenTokens: ['Hello'] },
  voice: 'slt',
  durationStretch: 1,
};
const READY =
  "const { parentPort } = require('node:worker_threads'); parentPort.postMessage({ type: 'ready' });";

function real(): Worker {
  const { url, execArgv } = threadEntry(new URL('./flite-worker.ts', import.meta.url).href, 'flite-thread');
  return new Worker(url, { execArgv });
}

function setUp(sources: readonly string[], clock = systemClock as FakeClock | typeof systemClock) {
  const threads: Worker[] = [];
  const launch = () => {
    const source = sources[threads.length];
    const thread = source === undefined ? real() : new Worker(source, { eval: true });
    threads.push(thread);
    return thread;
  };
  const worker = new FliteWorker({ clock, log: silentLogger, launch });
  onTestFinished(() => worker.close());
  return { worker, threads };
}

test.each([
  ['ends', `${READY} parentPort.on('message', () => process.exit(1));`],
  ['throws', `${READY} parentPort.on('message', () => { throw new Error('out of memory'); });`],
])('a thread that %s fails its job and is replaced for the next', async (_what, source) => {
  const { worker, threads } = setUp([source]);

  await expect(worker.speak(JOB)).rejects.toMatchObject({ kind: 'upstream_failed' });
  const spoken = await worker.speak(JOB);

  expect(spoken.words.map((word) => word.text)).toEqual(['Hello']);
  expect(threads).toHaveLength(2);
});

test('a thread that dies between two jobs is not noticed by the next', async () => {
  const { worker, threads } = setUp([]);
  await worker.speak(JOB);

  await threads[0]?.terminate();

  expect((await worker.speak(JOB)).samples.length).toBeGreaterThan(2_000);
  expect(threads).toHaveLength(2);
});

test('a thread that hangs fails its job after 10 s and is stopped', async () => {
  const clock = new FakeClock();
  const { worker, threads } = setUp([`${READY} parentPort.on('message', () => { for (;;); });`], clock);
  await worker.start();
  const speaking = expect(worker.speak(JOB)).rejects.toMatchObject({ kind: 'upstream_failed' });

  await clock.advance(10_000);

  await speaking;
  expect(threads[0]?.threadId).toBe(-1);
});

test('after closing nothing is started again', async () => {
  const { worker, threads } = setUp([]);
  await worker.close();

  await expect(worker.speak(JOB)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(threads).toEqual([]);
});
