import { expect, test } from 'vitest';
import type { SendResult, ServerSocket } from '../socket-server.ts';
import { SlowSocket, SocketGone } from './slow-socket.ts';

function setUp(result: SendResult) {
  const state = { result, sent: 0 };
  const raw: ServerSocket = {
    send: () => {
      state.sent++;
      return state.result;
    },
    ping: () => {},
    close: () => {},
    bufferedBytes: 0,
  };
  return { state, socket: new SlowSocket(raw) };
}

const FRAME = new Uint8Array(1);

async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  work.then(
    () => (settled = true),
    () => (settled = true),
  );
  await new Promise(setImmediate);
  return settled;
}

test('a reader that keeps up is waited for by nobody', async () => {
  const { socket } = setUp('sent');

  await socket.send(FRAME);
});

test('the sender of a slow reader waits until all has gone out', async () => {
  const { socket, state } = setUp('queued');
  const sent = socket.send(FRAME);
  expect(await isSettled(sent)).toBe(false);

  socket.drained();

  await sent;
  expect(state.sent).toBe(1);
});

test('a sender that waits for a socket that closes is told', async () => {
  const { socket } = setUp('queued');
  const sent = socket.send(FRAME);
  sent.catch(() => {});

  socket.closed();

  await expect(sent).rejects.toThrow(SocketGone);
  await expect(socket.send(FRAME)).rejects.toThrow(SocketGone);
});

test('a socket that drops is as good as gone', async () => {
  const { socket } = setUp('dropped');

  await expect(socket.send(FRAME)).rejects.toThrow(SocketGone);
});
