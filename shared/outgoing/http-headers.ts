import { OutgoingError } from './outgoing-error.ts';

/** Set by the client itself, or able to change where the message ends or whom it is for (RFC 9110, section 7.6.1). */
const OWN_HEADERS = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'accept-encoding',
  'proxy-authorization',
  'proxy-connection',
]);
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the octets that a field value must not hold.
const FORBIDDEN_IN_VALUE = /[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/;

/** The user's headers in lower case, without those that are the client's own. Throws `invalid_request` on bad text. */
export function requestHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!TOKEN.test(lower) || FORBIDDEN_IN_VALUE.test(value)) throw new OutgoingError('invalid_request');
    if (!OWN_HEADERS.has(lower)) out[lower] = value;
  }
  return out;
}

export function responseHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) out[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return out;
}
