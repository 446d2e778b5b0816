import { SignalRequest, SignalResponse } from '@livekit/protocol';
import type { ServerSocket } from '../socket-server.ts';

export type SignalMessage = SignalResponse['message'];
export type SignalCommand = SignalRequest['message'];

/** Sends one signalling message; false when the socket is gone or too far behind. */
export function sendSignal(socket: ServerSocket, message: SignalMessage): boolean {
  return socket.send(new SignalResponse({ message }).toBinary()) !== 'dropped';
}

/** The client's message, or null when the bytes are none. An unknown kind of message has no case. */
export function parseSignal(bytes: Uint8Array): SignalCommand | null {
  try {
    return SignalRequest.fromBinary(bytes).message;
  } catch {
    return null;
  }
}
