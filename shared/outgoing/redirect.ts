import { OutgoingError } from './outgoing-error.ts';
import type { TargetUrl } from './target-url.ts';

export type OutgoingMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request as it goes out: the first one, or one that follows a redirect. */
export interface Hop {
  readonly target: TargetUrl;
  readonly method: OutgoingMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that may go to another origin. Any other may hold a secret of the first one. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent']);

/** The `Location` to follow, or null when the response is no redirect. */
export function redirectLocation(response: {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}): string | null {
  const location = response.headers['location'];
  return REDIRECTS.has(response.statusCode) && typeof location === 'string' ? location : null;
}

/**
 * The request that follows a redirect (RFC 9110, section 15.4): 303, and 301 or 302 after POST, become GET without
 * a body. Another origin gets no credentials and none of the caller's own headers. From https to http is refused.
 */
export function followRedirect(
  hop: Hop,
  status: number,
  location: string,
  read: (url: string) => TargetUrl,
): Hop {
  if (!URL.canParse(location, hop.target.url.href)) throw new OutgoingError('invalid_url');
  const target = read(new URL(location, hop.target.url).href);
  if (hop.target.url.protocol === 'https:' && target.url.protocol === 'http:')
    throw new OutgoingError('unsupported_scheme');
  const becomesGet =
    (status === 303 && hop.method !== 'HEAD') ||
    ((status === 301 || status === 302) && hop.method === 'POST');
  const isSameOrigin = target.url.origin === hop.target.url.origin;
  const headers = Object.fromEntries(
    Object.entries(hop.headers).filter(([name]) => {
      if (becomesGet && name === 'content-type') return false;
      return isSameOrigin || HARMLESS.has(name);
    }),
  );
  return { target, method: becomesGet ? 'GET' : hop.method, headers, body: becomesGet ? null : hop.body };
}
