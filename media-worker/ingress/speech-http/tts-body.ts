import { readJson, readMessagePack } from '../../speech/speech-body.ts';
import type { HttpRequest } from '../socket-server.ts';
import { mediaTypeOf, WrongMediaType } from './speech-route.ts';

const READERS = new Map([
  ['application/json', readJson],
  ['application/msgpack', readMessagePack],
]);

/** The body of a synthesis request, not yet checked. Throws `WrongMediaType`, `UnreadableBody`, or `Failure` 413. */
export async function readTtsBody(request: HttpRequest): Promise<unknown> {
  const read = READERS.get(mediaTypeOf(request));
  if (!read) throw new WrongMediaType();
  const bytes = await request.readBody();
  if (bytes.length === 0) throw new WrongMediaType();
  return read(bytes);
}
