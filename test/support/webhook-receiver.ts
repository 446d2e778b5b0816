import { execFileSync } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock } from '../../shared/time.ts';

export interface ReceivedWebhook {
  readonly path: string;
  readonly atMs: number;
  readonly headers: IncomingMessage['headers'];
  /** The raw body. */
  readonly body: Buffer;
}

/** What a receiver does with a request; `nth` counts from 0 per path. */
export type Take = (reply: ServerResponse, nth: number, request: ReceivedWebhook) => void;

export const accept: Take = (reply) => reply.writeHead(200).end('ok');
export const refuse: Take = (reply) => reply.writeHead(500).end('down for maintenance');
/** Never answers. */
export const ignore: Take = () => {};
/** Promises 100 bytes, sends some, and closes. */
export const closeMidBody: Take = (reply) => {
  reply.writeHead(200, { 'content-length': '100' });
  reply.write('only so', () => reply.destroy());
};

/** A team's server on loopback: takes webhooks and remembers them, raw. */
export async function startWebhookReceiver(clock: Clock, takeByPath: Readonly<Record<string, Take>> = {}) {
  const received: ReceivedWebhook[] = [];
  const counts = new Map<string, number>();
  const server = createServer((request, reply) => {
    const pieces: Buffer[] = [];
    const path = request.url ?? '/';
    const atMs = clock.nowMs();
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const webhook = { path, atMs, headers: request.headers, body: Buffer.concat(pieces) };
      const nth = counts.get(path) ?? 0;
      counts.set(path, nth + 1);
      received.push(webhook);
      (takeByPath[path] ?? accept)(reply, nth, webhook);
    });
    request.on('error', () => {});
    reply.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const host = `127.0.0.1:${address.port}`;
  return {
    host,
    url: (path: string) => `http://${host}${path}`,
    received,
    at: (path: string) => received.filter((webhook) => webhook.path === path),
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Every system the tests run on has it. */
const OPENSSL = 'openssl';

/** Checks a signature with the OpenSSL command line, as a receiver would, clocks 5 minutes apart at most. */
export function isSignedBy(secret: string, { headers, body, atMs }: ReceivedWebhook): boolean {
  const header = String(headers['x-service-webhook-signature']);
  const parts = new Map(header.split(',').map((part): [string, string] => [part.slice(0, 1), part]));
  const t = parts.get('t')?.slice(2) ?? '';
  const hexKey = Buffer.from(secret).toString('hex');
  const digest = execFileSync(
    OPENSSL,
    ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${hexKey}`, '-hex'],
    { input: Buffer.concat([Buffer.from(`${t}.`), body]), encoding: 'utf8' },
  );
  const hex = digest
    .trim()
    .split(/[\s=]+/)
    .at(-1);
  const isRecent = Math.abs(Number(t) * 1000 - atMs) < 300_000;
  return isRecent && parts.get('v') === `v1=${hex}`;
}
