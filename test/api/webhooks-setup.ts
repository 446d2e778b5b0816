import { onTestFinished } from 'vitest';
import { createAfterCall } from '../../control-plane/after-call.ts';
import { silentLogger } from '../../shared/log.ts';
import type { OutgoingRequest, OutgoingResponse } from '../../shared/outgoing/outgoing-client.ts';
import { type Json, serve } from './agents-setup.ts';
import { SESSIONS, setUpSessionApi } from './sessions-setup.ts';

export interface SentWebhook {
  readonly url: string;
  readonly atMs: number;
  readonly body: Json;
}

/** Status by the n-th request (from 0) to a URL. */
export type Answer = (url: string, nth: number) => number;

/** The API with agents, sessions, and everything after a call; requests to teams' servers are answered by `answer`. */
export async function setUpAfterCall(answer: Answer = () => 200) {
  const api = await setUpSessionApi();
  const { clock, store, lookup, items, sessions } = api;
  const sent: SentWebhook[] = [];

  async function request(input: OutgoingRequest): Promise<OutgoingResponse> {
    const body: Json = JSON.parse(Buffer.from(input.body ?? '').toString());
    const nth = sent.filter(({ url }) => url === input.url).length;
    sent.push({ url: input.url, atMs: clock.nowMs(), body });
    return { status: answer(input.url, nth), headers: {}, body: Buffer.from('seen'), isTruncated: false };
  }

  const afterCall = createAfterCall({
    store,
    outgoing: { request },
    settings: { LLM_BASE_URL: '', LLM_API_KEY: '', LLM_MODEL: '' },
    openWebhookSecret: lookup.openWebhookSecret,
    pinnedConfig: lookup.pinnedConfig,
    listItems: items.listItems,
    hasSession: async (id, workspaceId) => (await sessions.find(id, workspaceId)) !== null,
    clock,
    log: silentLogger,
  });
  await afterCall.ensureIndexes();
  const stopping = new AbortController();
  const running = afterCall.run(stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    await running;
  });
  const { ask } = await serve(afterCall.routes);

  /** Lets time go by in small steps, with room for the store in each. */
  async function pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= 250) {
      await clock.advance(Math.min(250, leftMs));
      // A round trip through the store comes back after those that were under way, on a server too.
      for (let i = 0; i < 10; i++) {
        await store.ping();
        await clock.advance(0);
      }
    }
  }

  /** A call of 90 s that the caller hung up, as its worker reports it. */
  async function call(config: Json, body: Json = {}, said: readonly string[] = ['I need a room']) {
    const agentId = await api.publishedAgent({}, config);
    const sessionId = await api.startSession({ agent_id: agentId, ...body });
    await api.joined(sessionId);
    for (const [index, content] of said.entries()) await say(sessionId, index + 2, 'user', content);
    await clock.advance(90_000);
    await end(sessionId, 50);
    return { agentId, sessionId };
  }

  const say = (sessionId: string, sequence: number, role: 'user' | 'assistant', content: string) =>
    api.report(sessionId, sequence, {
      $case: 'timelineItem',
      value: {
        itemJson: JSON.stringify({ type: 'message', role, content, turn_id: sequence, created_at: null }),
      },
    });

  const end = (sessionId: string, sequence: number, endReason = 'user_hangup') => {
    const endedAtMs = clock.nowMs();
    const value = { status: 'completed', endReason, startedAtMs: endedAtMs - 90_000, endedAtMs };
    return api.report(sessionId, sequence, { $case: 'ended', value });
  };

  const deliveries = async (sessionId: string) =>
    (await ask('GET', `${SESSIONS}/${sessionId}/deliveries`)).body['deliveries'] as Json[];

  return { ...api, askAfter: ask, sent, pass, call, say, end, deliveries, afterCall };
}

export const hooks = (...urls: string[]): Json => ({
  webhooks: { post_call: urls.map((url) => ({ url })) },
});
