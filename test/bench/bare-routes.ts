import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Koa, { type Context } from 'koa';
import type { Document, Store } from '../../control-plane/storage/collection.ts';
import { newId, newSessionId } from '../../shared/ids.ts';
import { sessionDoc } from '../support/session-doc.ts';
import { answerQuestions } from '../support/worker-process-side.ts';
import { openBenchStore, type StoreAddress } from './bench-store.ts';

const WORKSPACE = 'w';
const AGENT = newId();
const PAGE = 30;

type Row = Document & Record<string, unknown>;

/**
 * The same three routes with nothing but Koa and the store's driver: what is read is answered as it lies, what has to be
 * written is written (a session's record; the wallet, its ledger row and the wallet again). No key, no rules, no
 * validation, no placement, no token.
 */
function bareApp(store: Store): Koa {
  const agents = store.collection<Row>('agents');
  const versions = store.collection<Row>('agent_versions');
  const sessions = store.collection<Row>('sessions');
  const wallets = store.collection<Row>('wallets');
  const ledger = store.collection<Row>('wallet_ledger');

  async function createSession(ctx: Context): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of ctx.req) pieces.push(piece);
    const { agent_id } = JSON.parse(Buffer.concat(pieces).toString('utf8')) as { agent_id: string };
    await agents.findOne({ _id: agent_id, workspaceId: WORKSPACE });
    await versions.findOne({ _id: `${agent_id}:1` });
    const doc = sessionDoc({ workspaceId: WORKSPACE, agentId: agent_id });
    await sessions.insertOne({ ...doc });
    const entry = randomUUID();
    await wallets.findOneAndUpdate(
      { _id: WORKSPACE, balanceMicros: { $gte: 1 } },
      { $inc: { balanceMicros: -1 }, $set: { [`pending.${entry}`]: 1 } },
    );
    await ledger.insertOne({ _id: entry, amountMicros: -1, userId: WORKSPACE });
    await wallets.updateOne({ _id: WORKSPACE }, { $unset: { [`pending.${entry}`]: '' } });
    ctx.status = 201;
    ctx.body = { session_id: doc._id, token: 'x'.repeat(500) };
  }

  const app = new Koa();
  app.use(async (ctx) => {
    if (ctx.method === 'POST') return createSession(ctx);
    ctx.body = ctx.path.startsWith('/v1/agent/agents/')
      ? await agents.findOne({ _id: ctx.path.slice('/v1/agent/agents/'.length), workspaceId: WORKSPACE })
      : await sessions.find(
          { workspaceId: WORKSPACE },
          { sort: { workspaceId: -1, _id: -1 }, limit: PAGE + 1 },
        );
  });
  return app;
}

async function fill(store: Store, agent: Row, sessionCount: number): Promise<void> {
  await store.collection<Row>('sessions').createIndex({ workspaceId: 1, _id: 1 });
  await store.collection<Row>('agents').insertOne(agent);
  await store.collection<Row>('agent_versions').insertOne({ ...agent, _id: `${agent._id}:1` });
  await store.collection<Row>('wallets').insertOne({ _id: WORKSPACE, balanceMicros: 1e12, pending: {} });
  const sessions = store.collection<Row>('sessions');
  for (let i = 0; i < sessionCount; i++) {
    const doc = sessionDoc({ workspaceId: WORKSPACE, agentId: AGENT });
    await sessions.insertOne({ ...doc, _id: newSessionId(doc.createdAtMs) });
  }
}

let stop = async () => {};

const handlers = {
  /** `agent`: the document that the control plane stores. */
  start: async (given: { address: StoreAddress; sessionCount: number; agent: Record<string, unknown> }) => {
    const store = await openBenchStore(given.address);
    await fill(store, { ...given.agent, _id: AGENT, workspaceId: WORKSPACE }, given.sessionCount);
    const server = bareApp(store).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    stop = async () => {
      server.closeAllConnections();
      server.close();
      await store.close();
    };
    return {
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      apiKey: '',
      agentId: AGENT,
    };
  },
};
export type BareHandlers = typeof handlers;

answerQuestions(handlers, () => stop());
