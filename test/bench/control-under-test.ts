import { withSchemaVersions } from '../../control-plane/storage/schema-version.ts';
import { startControlPlane } from '../fakes/control-plane.ts';
import { sessionDoc } from '../support/session-doc.ts';
import { answerQuestions } from '../support/worker-process-side.ts';
import { openBenchStore, type StoreAddress } from './bench-store.ts';

/** Enough for every session that a bench may create. */
const CREDIT_MICROS = 1_000_000_000_000;

let stop = async () => {};

/** The whole control plane in a process of its own, with a published agent and a list of sessions. */
const handlers = {
  start: async ({ address, sessionCount }: { address: StoreAddress; sessionCount: number }) => {
    const store = withSchemaVersions(await openBenchStore(address));
    const plane = await startControlPlane({ store, env: { PARLEY_REPLY_CHECK: 'report' } });
    stop = plane.stop;
    const { apiKey, workspaceId } = await plane.newAccount(CREDIT_MICROS);
    const created = await plane.call('POST', '/v1/agent/agents', { name: 'Front desk' }, apiKey);
    const agentId: string = created.body.agent_id;
    await plane.call('POST', `/v1/agent/agents/${agentId}/publish`, {}, apiKey);
    const sessions = store.collection<ReturnType<typeof sessionDoc>>('sessions');
    for (let i = 0; i < sessionCount; i++) await sessions.insertOne(sessionDoc({ workspaceId, agentId }));
    return { baseUrl: plane.baseUrl, grpcPort: plane.addresses.grpcPort, apiKey, agentId };
  },
};
export type ControlHandlers = typeof handlers;

answerQuestions(handlers, () => stop());
