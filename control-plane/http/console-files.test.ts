import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { expect, onTestFinished, test } from 'vitest';
import { serveConsole } from './console-files.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

async function setUp() {
  const app = new Koa();
  app.silent = true;
  app.use(serveConsole());
  app.use((ctx) => {
    ctx.status = 404;
    ctx.body = 'handed on';
  });
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;

  /** Sends the path exactly as it is written, which `fetch` would not. */
  return (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Answer>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, headers, method, agent: false }, (reply) => {
        const parts: Buffer[] = [];
        reply.on('data', (part: Buffer) => parts.push(part));
        reply.on('end', () =>
          resolve({
            status: reply.statusCode ?? 0,
            headers: reply.headers,
            body: Buffer.concat(parts).toString(),
          }),
        );
      });
      sent.on('error', reject).end();
    });
}

test('the page comes with a policy that lets nothing but its own files run, and with no cookie', async () => {
  const get = await setUp();

  for (const path of ['/console', '/console/']) {
    const page = await get(path);
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(page.headers['content-security-policy']).not.toContain('unsafe');
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(page.headers['x-content-type-options']).toBe('nosniff');
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    expect(page.headers['cache-control']).toBe('no-cache');
    expect(page.headers['set-cookie']).toBeUndefined();
    expect(page.body).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|https?:/);
  }
});

test('every file that the page names is there, with its type', async () => {
  const get = await setUp();
  const { body } = await get('/console');
  const named = [...body.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1] ?? '');

  expect(named.length).toBeGreaterThanOrEqual(4);
  for (const path of named) {
    const file = await get(path);
    expect(file.status, path).toBe(200);
    expect(file.headers['content-type']).toMatch(/^(?:text\/css|text\/javascript|image\/svg\+xml)/);
  }
});

test('every module that another one imports is there', async () => {
  const get = await setUp();
  const seen = new Set<string>();
  const waiting = ['/console/main.js'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, body } = await get(path);
    expect(status, path).toBe(200);
    if (path.includes('/vendor/')) continue;
    for (const [, target] of body.matchAll(/from '([^']+)'/g))
      waiting.push(new URL(target ?? '', `http://host${path}`).pathname);
  }

  expect(seen.size).toBeGreaterThan(30);
  expect(seen).toContain('/console/vendor/livekit-client.js');
});

test('the choices name every language and built-in voice', async () => {
  const get = await setUp();
  const choices = JSON.parse((await get('/console/choices.json')).body);

  expect(choices.languages).toContain('nl');
  expect(choices.system_prompt_max).toBe(4000);
  expect(choices.voices.length).toBeGreaterThanOrEqual(4);
  expect(Object.keys(choices.voices[0])).toEqual(['id', 'name', 'language']);
});

test('a file that did not change is not sent again', async () => {
  const get = await setUp();
  const first = await get('/console/main.js');
  const again = await get('/console/main.js', { 'If-None-Match': String(first.headers['etag']) });

  expect(first.body.length).toBeGreaterThan(100);
  expect(again.status).toBe(304);
  expect(again.body).toBe('');
  expect(again.headers['content-security-policy']).toBe(first.headers['content-security-policy']);
});

test('a browser that takes gzip gets the room client at a quarter of its size', async () => {
  const get = await setUp();
  const path = '/console/vendor/livekit-client.js';
  const plain = await get(path);
  const zipped = await get(path, { 'Accept-Encoding': 'gzip' }, 'HEAD');

  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(zipped.headers['content-encoding']).toBe('gzip');
  expect(Number(zipped.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 4);
  expect(zipped.headers['vary']).toMatch(/accept-encoding/i);
});

test.each([
  '/console/../package.json',
  '/console/%2e%2e/package.json',
  '/console/..%2f..%2fpackage.json',
  '/console//etc/passwd',
  '/console/vendor/../../../package.json',
  '/console/main.ts',
  '/console/tsconfig.json',
  '/console/main.js.map',
  '/console/main.js%00.css',
  '/console/constructor',
  '/consolex',
])('%s is no file of the console', async (path) => {
  const get = await setUp();

  expect(await get(path)).toMatchObject({ status: 404, body: 'handed on' });
});

test('what has another method than GET and HEAD is refused, with the methods named', async () => {
  const app = new Koa();
  const seen: unknown[] = [];
  app.use(async (ctx, next) => {
    await next().catch((error: unknown) => {
      seen.push(error);
      ctx.status = 405;
    });
  });
  app.use(serveConsole());
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));

  const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/console`, {
    method: 'POST',
  });

  expect(reply.headers.get('allow')).toBe('GET, HEAD');
  expect(seen).toMatchObject([{ kind: 'method_not_allowed' }]);
});
