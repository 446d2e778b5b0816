import type { Context } from 'koa';

/** Browsers ask again after this long. Longer is pointless: Chromium caps it at two hours. */
const PREFLIGHT_MAX_AGE_S = 7200;
const HEADER_LIST = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+( *, *[!#$%&'*+\-.^_`|~0-9A-Za-z]+)*$/;
const MAX_HEADER_LIST_CHARS = 1024;

/**
 * Lets pages of any origin read the reply (Fetch standard, CORS protocol). Safe for every route: credentials are a
 * header that the page itself must know, never a cookie.
 */
export function allowAnyOrigin(ctx: Context): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Expose-Headers', 'X-Request-Id, Retry-After, WWW-Authenticate, Location');
}

export function isPreflight(ctx: Context): boolean {
  return (
    ctx.method === 'OPTIONS' && ctx.get('Origin') !== '' && ctx.get('Access-Control-Request-Method') !== ''
  );
}

/** Answers a preflight: the methods of this path, and whatever headers the page wants to send, if they are names. */
export function answerPreflight(ctx: Context, methods: readonly string[]): void {
  allowAnyOrigin(ctx);
  ctx.set('Access-Control-Allow-Methods', methods.join(', '));
  const wanted = ctx.get('Access-Control-Request-Headers').trim();
  // `*` would not cover Authorization, so the names are repeated.
  if (wanted.length <= MAX_HEADER_LIST_CHARS && HEADER_LIST.test(wanted)) {
    ctx.set('Access-Control-Allow-Headers', wanted);
  }
  ctx.set('Access-Control-Max-Age', String(PREFLIGHT_MAX_AGE_S));
  ctx.status = 204;
}
