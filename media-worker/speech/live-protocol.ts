import { encode } from '@msgpack/msgpack';
import type { ChunkAlignment } from './alignment.ts';
import { readMessagePack } from './speech-body.ts';

/** What a client of the realtime socket may say. Every frame is a MessagePack map. */
export type LiveClientMessage =
  | { readonly event: 'start'; readonly request: unknown }
  | { readonly event: 'text'; readonly text: string }
  | { readonly event: 'flush' | 'stop' }
  /** Of a later version: let through unread. */
  | { readonly event: 'unknown' };

export type LiveServerMessage =
  | ({
      readonly event: 'audio';
      readonly audio: Uint8Array;
      readonly time?: number;
    } & Partial<ChunkAlignment>)
  | { readonly event: 'finish'; readonly reason: 'stop' | 'error'; readonly message?: string };

/** Throws `UnreadableBody` for bytes that are no MessagePack, and `TypeError` for a value that is no message. */
export function readLiveMessage(bytes: Uint8Array): LiveClientMessage {
  const message = readMessagePack(bytes);
  if (typeof message !== 'object' || message === null || !('event' in message))
    throw new TypeError('a message is a map with an event');
  switch (message.event) {
    case 'start':
      return { event: 'start', request: 'request' in message ? message.request : null };
    case 'text': {
      const text = 'text' in message ? message.text : null;
      if (typeof text !== 'string') throw new TypeError('the text of a text event is a string');
      return { event: 'text', text };
    }
    case 'flush':
    case 'stop':
      return { event: message.event };
    default:
      if (typeof message.event !== 'string') throw new TypeError('the event is a string');
      return { event: 'unknown' };
  }
}

/** The bytes of one frame, with a buffer of their own. */
export function writeLiveMessage(message: LiveServerMessage): Uint8Array {
  return encode(message, { ignoreUndefined: true });
}
