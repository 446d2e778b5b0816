import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { Failure } from '../../shared/errors.ts';
import { readMultipart, UploadedFile } from './multipart-body.ts';

const SCHEMA = Type.Object({ source: UploadedFile, name: Type.String() });
const RULE = { maxFileBytes: 100, tooLarge: () => new Failure('bad_request', 'too large') };
const MALFORMED = 'Malformed multipart body';

const partOf = (disposition: string, content: string) =>
  `--x\r\nContent-Disposition: ${disposition}\r\n\r\n${content}\r\n`;
const form = (file = 'abc') =>
  `${partOf('form-data; name="name"', 'Hello')}${partOf('form-data; name="source"; filename="a/b.txt"', file)}--x--\r\n`;

/** The outcome for a body that arrives in these pieces. */
async function read(...pieces: string[]) {
  const request = new IncomingMessage(new Socket());
  request.headers = { 'content-type': 'multipart/form-data; boundary=x' };
  request.complete = true;
  for (const piece of pieces) request.push(piece);
  request.push(null);
  return readMultipart(request, SCHEMA, RULE).then(
    ({ values }) => values,
    (error: Error) => error.message,
  );
}

test('fields are text; files bring their name, without folders, and their bytes', async () => {
  expect(await read(form())).toEqual({
    name: 'Hello',
    source: { fileName: 'b.txt', contentType: 'text/plain', bytes: Buffer.from('abc') },
  });
});

test('wherever the body is cut into pieces, the form is the same', async () => {
  const whole = form();
  const expected = await read(whole);
  for (let at = 1; at < whole.length; at++) {
    expect(await read(whole.slice(0, at), whole.slice(at))).toEqual(expected);
  }
});

test('wherever the body ends too early, it is malformed and never waits', async () => {
  const whole = form();
  const lastNeeded = whole.lastIndexOf('--');
  for (let length = 0; length < lastNeeded; length++) {
    expect(await read(whole.slice(0, length))).toBe(MALFORMED);
  }
});

test('a file may be as long as the limit and not a byte longer', async () => {
  expect(await read(form('z'.repeat(100)))).toMatchObject({ name: 'Hello' });
  expect(await read(form('z'.repeat(101)))).toBe('too large');
});

test('fields named like parts of a prototype are fields like others', async () => {
  const values = await read(`${partOf('form-data; name="__proto__"', 'x')}--x--\r\n`);
  expect(Object.keys(values)).toEqual(['__proto__']);
});
