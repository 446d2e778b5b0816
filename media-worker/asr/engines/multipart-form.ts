import { randomBytes } from 'node:crypto';

/** A file and text fields as multipart/form-data (RFC 7578). */
export function multipartForm(
  fields: Readonly<Record<string, string>>,
  file: { readonly field: string; readonly name: string; readonly type: string; readonly bytes: Uint8Array },
): { readonly contentType: string; readonly body: Buffer } {
  const boundary = `parley-${randomBytes(12).toString('hex')}`;
  const part = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  const text = Object.entries(fields)
    .map(([name, value]) => `${part(`name="${name}"`)}\r\n${value}\r\n`)
    .join('');
  const head = `${text}${part(`name="${file.field}"; filename="${file.name}"`)}Content-Type: ${file.type}\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}
