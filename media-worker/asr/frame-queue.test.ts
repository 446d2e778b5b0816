import { expect, test } from 'vitest';
import type { AudioFrame } from '../frame.ts';
import { FrameQueue } from './frame-queue.ts';
import { framesUntil } from './frames-until.ts';

const frame = (startMs: number): AudioFrame => ({
  samples: new Int16Array(160),
  sampleRateHz: 16_000,
  startMs,
});

async function startsOf(audio: AsyncIterable<AudioFrame>): Promise<number[]> {
  const starts: number[] = [];
  for await (const { startMs } of audio) starts.push(startMs);
  return starts;
}

test('frames are read in order, those pushed while the reader waits too, until the end', async () => {
  const queue = new FrameQueue();
  queue.push(frame(0));
  const read = startsOf(queue);
  await new Promise((resolve) => setImmediate(resolve));

  queue.push(frame(10));
  queue.push(frame(20));
  queue.end();

  expect(await read).toEqual([0, 10, 20]);
});

test('nothing is taken after the end', async () => {
  const queue = new FrameQueue();
  queue.end();

  expect(queue.push(frame(0))).toBe(false);
  expect(await startsOf(queue)).toEqual([]);
});

test('a full queue drops its oldest frames and says so', async () => {
  const queue = new FrameQueue();

  const wasTaken = Array.from({ length: 3_002 }, (_, i) => queue.push(frame(i)));
  queue.end();

  expect(wasTaken.filter((taken) => !taken)).toHaveLength(2);
  expect(queue.droppedFrames).toBe(2);
  expect((await startsOf(queue))[0]).toBe(2);
});

test('a reader that leaves ends the queue', async () => {
  const queue = new FrameQueue();
  queue.push(frame(0));

  for await (const _frame of queue) break;

  expect(queue.push(frame(10))).toBe(false);
});

test('aborting ends the reading while the next frame is waited for, and the queue with it', async () => {
  const queue = new FrameQueue();
  const stop = new AbortController();
  queue.push(frame(0));
  const read = startsOf(framesUntil(queue, stop.signal));
  await new Promise((resolve) => setImmediate(resolve));

  stop.abort();

  expect(await read).toEqual([0]);
  expect(queue.push(frame(10))).toBe(false);
});
