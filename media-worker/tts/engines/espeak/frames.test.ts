import { expect, test } from 'vitest';
import { encodeFrame, FrameReader } from './frames.ts';

test('frames cut anywhere come out whole and in order', () => {
  const stream = Buffer.concat([encodeFrame({ a: 'ü' }, Uint8Array.of(1, 2, 3)), encodeFrame({ b: 2 })]);
  for (let size = 1; size < stream.length; size++) {
    const reader = new FrameReader();
    const frames = [];
    for (let at = 0; at < stream.length; at += size)
      frames.push(...reader.push(stream.subarray(at, at + size)));

    expect(frames).toEqual([
      { json: { a: 'ü' }, bytes: Uint8Array.of(1, 2, 3) },
      { json: { b: 2 }, bytes: new Uint8Array(0) },
    ]);
  }
});

test('a length that can not be right is an error', () => {
  expect(() => new FrameReader().push(Buffer.alloc(8, 0xff))).toThrow(/too long/);
});
