import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context, Middleware } from 'koa';
import { Failure } from '../../shared/errors.ts';
import { projectFile } from '../../shared/project-file.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  json: JSON_TYPE,
};

/** Headers of every page and of what belongs to it. Each page adds its own content security policy. */
export const PAGE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Asked for each time, sent only when it changed.
  'Cache-Control': 'no-cache',
} as const;

export interface StaticFile {
  readonly type: string;
  readonly read: () => Promise<Buffer>;
  /** Another number means that the content is another. */
  readonly version: () => Promise<number>;
}

interface LoadedFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
  readonly etag: string;
}

interface Loading {
  readonly version: number;
  readonly content: Promise<LoadedFile>;
}

/** A file beside the source; `path` is relative to the project's root. */
export function onDisk(path: string): StaticFile {
  const type = TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  return {
    type,
    read: () => readFile(projectFile(path)),
    version: async () => (await stat(projectFile(path))).mtimeMs,
  };
}

/** A file that is made once and never changes. */
export function inMemory(type: string, content: Buffer): StaticFile {
  return { type, read: async () => content, version: async () => 0 };
}

/**
 * Answers exactly these paths, with these headers, and hands everything else on. Files are kept in memory and read
 * again when they change.
 */
export function serveFiles(
  files: ReadonlyMap<string, StaticFile>,
  headers: Readonly<Record<string, string>>,
): Middleware {
  const loaded = new Map<string, Loading>();

  return async (ctx, next) => {
    const file = files.get(ctx.path);
    if (!file) return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new Failure('method_not_allowed', 'Method not allowed');
    }
    const version = await file.version();
    let loading = loaded.get(ctx.path);
    if (loading?.version !== version) {
      loading = { version, content: load(file) };
      loaded.set(ctx.path, loading);
      loading.content.catch(() => loaded.delete(ctx.path));
    }
    ctx.set(headers);
    send(ctx, await loading.content);
  };
}

async function load({ type, read }: StaticFile): Promise<LoadedFile> {
  const plain = await read();
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 27);
  return { type, plain, zipped: await promisify(gzip)(plain), etag: `W/"${hash}"` };
}

function send(ctx: Context, { type, plain, zipped, etag }: LoadedFile): void {
  ctx.set('ETag', etag);
  ctx.vary('Accept-Encoding');
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.set('Content-Type', type);
  const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isZipped) ctx.set('Content-Encoding', 'gzip');
  ctx.body = isZipped ? zipped : plain;
}
