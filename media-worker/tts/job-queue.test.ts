import { expect, test } from 'vitest';
import { Failure } from '../../shared/errors.ts';
import { JobQueue } from './job-queue.ts';

function setUp(maxWaiting = 2) {
  const started: string[] = [];
  const finish = new Map<string, (result: string | Failure) => void>();
  const queue = new JobQueue<string, string>(maxWaiting, (job) => {
    started.push(job);
    return new Promise((resolve, reject) => {
      finish.set(job, (result) => (result instanceof Failure ? reject(result) : resolve(result)));
    });
  });
  return { queue, started, finish: (job: string, result: string | Failure) => finish.get(job)?.(result) };
}
const forever = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('jobs are done one at a time, first come, first served', async () => {
  const { queue, started, finish } = setUp();
  const first = queue.run('a', forever);
  const second = queue.run('b', forever);

  expect(started).toEqual(['a']);
  finish('a', 'A');
  expect(await first).toBe('A');
  await settle();
  expect(started).toEqual(['a', 'b']);
  finish('b', 'B');
  expect(await second).toBe('B');
});

test('a job cancelled while it waits is never done', async () => {
  const { queue, started, finish } = setUp();
  const controller = new AbortController();
  const first = queue.run('a', forever);
  const waiting = queue.run('b', controller.signal);

  controller.abort();
  finish('a', 'A');

  expect(await waiting).toBeNull();
  expect(await first).toBe('A');
  await settle();
  expect(started).toEqual(['a']);
});

test('a job cancelled while it is done gives null at once, and the next one waits for its end', async () => {
  const { queue, started, finish } = setUp();
  const controller = new AbortController();
  const running = queue.run('a', controller.signal);
  const next = queue.run('b', forever);

  controller.abort();

  expect(await running).toBeNull();
  expect(started).toEqual(['a']);
  finish('a', 'A');
  await settle();
  finish('b', 'B');
  expect(await next).toBe('B');
});

test('a job too many is refused', async () => {
  const { queue, finish } = setUp(1);
  const running = queue.run('a', forever);
  const waiting = queue.run('b', forever);

  await expect(queue.run('c', forever)).rejects.toMatchObject({ kind: 'unavailable' });
  finish('a', 'A');
  await running;
  await settle();
  finish('b', 'B');
  expect(await waiting).toBe('B');
});

test('a job that fails does not stop the next', async () => {
  const { queue, finish } = setUp();
  const first = queue.run('a', forever);
  const second = queue.run('b', forever);

  finish('a', new Failure('upstream_failed', 'no'));

  await expect(first).rejects.toMatchObject({ kind: 'upstream_failed' });
  await settle();
  finish('b', 'B');
  expect(await second).toBe('B');
});

test('closing fails what runs, what waits and what comes', async () => {
  const { queue } = setUp();
  const [running, waiting] = [queue.run('a', forever), queue.run('b', forever)];

  queue.close();

  for (const job of [running, waiting, queue.run('c', forever)])
    await expect(job).rejects.toMatchObject({ kind: 'unavailable' });
});
