import { expect, test } from 'vitest';
import { chunksOf, parsePacket, userPacket } from './data-packets.ts';

test.each(['a', 'ä', '€', '😀'])('text is cut into chunks between characters (%s)', (character) => {
  const text = `x${character.repeat(20_000)}`;

  const chunks = chunksOf(text);

  const decoder = new TextDecoder('utf-8', { fatal: true });
  expect(chunks.every((chunk) => chunk.length <= 15_000)).toBe(true);
  expect(chunks.map((chunk) => decoder.decode(chunk)).join('')).toBe(text);
});

test('no text is no chunk', () => {
  expect(chunksOf('')).toEqual([]);
});

test('a packet says who sent it and on which topic', () => {
  const packet = parsePacket(userPacket('agent-1', 'agent-event', '{}'));

  expect([packet?.participantIdentity, packet?.value.case]).toEqual(['agent-1', 'user']);
});

test('garbage is no packet', () => {
  expect(parsePacket(new Uint8Array([0xff, 0xff, 0xff]))).toBeNull();
});
