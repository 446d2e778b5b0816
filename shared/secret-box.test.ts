import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSecretBox, parseKeyList, UnreadableSecret } from './secret-box.ts';

const newKey = () => randomBytes(32).toString('base64');

test('what was sealed opens again in the same context', () => {
  const box = createSecretBox(parseKeyList(newKey()));

  const sealed = box.seal('grüße 🔑', 'agent:1:llm');

  expect(sealed).not.toContain('grüße');
  expect(box.open(sealed, 'agent:1:llm')).toBe('grüße 🔑');
});

test('the same text seals differently each time', () => {
  const box = createSecretBox(parseKeyList(newKey()));

  expect(box.seal('a', 'c')).not.toBe(box.seal('a', 'c'));
});

test('a sealed value moved to another context does not open', () => {
  const box = createSecretBox(parseKeyList(newKey()));

  expect(() => box.open(box.seal('a', 'agent:1:llm'), 'agent:2:llm')).toThrow(UnreadableSecret);
});

test('one flipped bit is noticed, wherever it is', () => {
  const box = createSecretBox(parseKeyList(newKey()));
  const sealed = box.seal('secret', 'c');
  const [version, id, encoded = ''] = sealed.split('.');
  const bytes = Buffer.from(encoded, 'base64url');

  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => box.open(`${version}.${id}.${changed.toString('base64url')}`, 'c')).toThrow(
      UnreadableSecret,
    );
  }
});

test('after a rotation the old key still opens and the new one seals', () => {
  const [oldKey, nextKey] = [newKey(), newKey()];
  const before = createSecretBox(parseKeyList(oldKey));
  const after = createSecretBox(parseKeyList(`${nextKey},${oldKey}`));
  const sealed = before.seal('a', 'c');

  expect(after.open(sealed, 'c')).toBe('a');
  expect(after.isStale(sealed)).toBe(true);
  expect(after.isStale(after.seal('a', 'c'))).toBe(false);
  expect(() => before.open(after.seal('a', 'c'), 'c')).toThrow(UnreadableSecret);
});

test.each(['', 'v1', 'v2.aaaaaaaa.AAAA', 'v1.aaaaaaaa.AAAA'])('%j is not a sealed value', (text) => {
  const box = createSecretBox(parseKeyList(newKey()));

  expect(() => box.open(text, 'c')).toThrow(UnreadableSecret);
});

test('a key of the wrong length is refused by its position, without showing it', () => {
  expect(() => parseKeyList(`${newKey()},c2hvcnQ=`)).toThrow('key 2 is not 32 bytes of base64');
});
