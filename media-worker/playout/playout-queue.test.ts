import { expect, test } from 'vitest';
import { PLAYOUT_FRAME_SAMPLES, PLAYOUT_RATE_HZ, PlayoutQueue } from './playout-queue.ts';

const word = (text: string, startMs: number, endMs: number) => ({ text, startMs, endMs, isEstimated: false });
const ms = (count: number) => new Int16Array((PLAYOUT_RATE_HZ * count) / 1000).fill(1000);

function readMs(queue: PlayoutQueue, count: number): number {
  let audible = 0;
  for (let i = 0; i < count / 10; i++) if (queue.read()) audible += 10;
  return audible;
}

test('frames are 10 ms with a buffer of their own, whatever the chunks were', () => {
  const queue = new PlayoutQueue();
  queue.write(ms(7));
  queue.write(ms(7));

  const frame = queue.read();

  expect(frame?.length).toBe(PLAYOUT_FRAME_SAMPLES);
  expect(frame?.buffer.byteLength).toBe(PLAYOUT_FRAME_SAMPLES * 2);
});

test('less than a frame waits for more, and goes out padded once the reply is complete', () => {
  const queue = new PlayoutQueue();
  queue.write(ms(4));
  expect(queue.read()).toBeNull();

  queue.complete();

  expect(queue.read()?.filter((s) => s !== 0).length).toBe((PLAYOUT_RATE_HZ * 4) / 1000);
  expect(queue.isFinished).toBe(true);
});

test('a word is heard when its middle has been sent', () => {
  const queue = new PlayoutQueue();
  queue.writeWords([word('one', 0, 200), word('two', 200, 400)], 0);
  queue.write(ms(400));

  readMs(queue, 90);
  expect(queue.takeHeardWords()).toEqual([]);
  readMs(queue, 20);
  expect(queue.takeHeardWords().map((w) => w.text)).toEqual(['one']);
  readMs(queue, 150);
  expect(queue.takeHeardWords()).toEqual([]);
});

test('words of a second sentence count from where its audio begins', () => {
  const queue = new PlayoutQueue();
  queue.write(ms(500));
  queue.writeWords([word('late', 0, 100)], queue.writtenSamples);
  queue.write(ms(100));

  readMs(queue, 540);
  expect(queue.takeHeardWords()).toEqual([]);
  readMs(queue, 20);
  expect(queue.takeHeardWords().map((w) => w.text)).toEqual(['late']);
});

test('a paused queue gives nothing and goes on where it stopped', () => {
  const queue = new PlayoutQueue();
  queue.write(ms(100));
  readMs(queue, 30);

  queue.pause();
  expect(readMs(queue, 200)).toBe(0);
  queue.resume();

  expect(readMs(queue, 200)).toBe(70);
});

test('a dropped queue is silent from the next frame on and takes no more audio', () => {
  const queue = new PlayoutQueue();
  queue.write(ms(100));
  queue.drop();
  queue.write(ms(100));

  expect(queue.read()).toBeNull();
  expect(queue.isFinished).toBe(true);
});

test('a writer waits while more than 10 s are unheard, and is let go by reading or dropping', async () => {
  const queue = new PlayoutQueue();
  queue.write(ms(10_020));
  let hasRoom = false;
  const waiting = queue.room().then(() => {
    hasRoom = true;
  });
  await Promise.resolve();
  expect(hasRoom).toBe(false);

  readMs(queue, 20);
  await waiting;
  expect(hasRoom).toBe(true);

  queue.write(ms(10_000));
  const again = queue.room();
  queue.drop();
  await again;
});
