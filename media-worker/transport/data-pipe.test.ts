import { expect, test } from 'vitest';
import { DataPipe } from './data-pipe.ts';
import type { DataChannel } from './wrtc.ts';

/** A channel that takes everything and sends nothing on. */
function stalledChannel() {
  const sent: (string | Uint8Array)[] = [];
  const channel = {
    label: 'x',
    readyState: 'connecting' as DataChannel['readyState'],
    bufferedAmount: 0,
    binaryType: 'arraybuffer',
    onopen: null as (() => void) | null,
    onclose: null,
    onmessage: null,
    send(data: string | Uint8Array) {
      if (channel.readyState !== 'open') throw new Error('not open');
      sent.push(data);
      channel.bufferedAmount += data.length;
    },
    close() {},
  };
  const open = () => {
    channel.readyState = 'open';
    channel.onopen?.();
  };
  return { channel, sent, open };
}

test('what is sent before the channel opens waits and keeps its order', () => {
  const { channel, sent, open } = stalledChannel();
  const pipe = new DataPipe(channel);

  pipe.send('one');
  const bytes = new Uint8Array([2]);
  pipe.send(bytes);
  bytes[0] = 9;
  open();
  pipe.send('three');

  expect(sent).toEqual(['one', new Uint8Array([2]), 'three']);
});

test.each([true, false])(
  'past 1 MiB of waiting bytes new messages are dropped and counted (open: %s)',
  (isOpen) => {
    const { channel, open } = stalledChannel();
    const pipe = new DataPipe(channel);
    if (isOpen) open();

    const results = Array.from({ length: 12 }, () => pipe.send(new Uint8Array(100_000)));

    expect(results.filter(Boolean)).toHaveLength(10);
    expect([pipe.droppedMessages, pipe.bufferedBytes]).toEqual([2, 1_000_000]);
  },
);

test('a closed channel drops', () => {
  const { channel, open } = stalledChannel();
  const pipe = new DataPipe(channel);
  open();
  channel.readyState = 'closed';

  expect(pipe.send('late')).toBe(false);
});
