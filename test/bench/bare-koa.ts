import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { answerQuestions } from '../support/worker-process-side.ts';

/** The least a Koa route can do with the same request: read the body, parse it, answer an object of the same size. */
const app = new Koa();
app.use(async (context) => {
  const pieces: Buffer[] = [];
  for await (const piece of context.req) pieces.push(piece);
  const body: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'));
  context.status = 201;
  context.body = { received: body, token: 'x'.repeat(500) };
});

const handlers = {
  start: async (_: null) => {
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    return { port: (server.address() as AddressInfo).port };
  },
};
export type KoaHandlers = typeof handlers;

answerQuestions(handlers);
