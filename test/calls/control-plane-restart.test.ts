import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { HOTEL_CONFIG } from '../support/hotel-conversation.ts';
import { type Parley, publishedAgent, sessionDetail, startParley, startSession } from '../support/parley.ts';
import { RtcNodeCaller } from '../support/rtc-node-caller.ts';

let parley: Parley;
beforeAll(async () => {
  parley = await startParley();
}, 180_000);
afterAll(() => parley?.stop());

test('a control plane that is killed during a call neither ends the call nor loses a timeline item', async () => {
  const agentId = await publishedAgent(parley, HOTEL_CONFIG);
  const session = await startSession(parley, agentId);
  const caller = new RtcNodeCaller();
  await caller.join(session.rtc_url, session.token);
  await agentSays(caller, 1);
  await ask(caller, 'When is breakfast?', 2);

  const before = parley.pidOf('control-plane');
  expect(before).not.toBeNull();
  process.kill(before ?? 0, 'SIGKILL');
  await ask(caller, 'How much is parking?', 3);
  await eventually('a new control plane', 15_000, () => {
    const now = parley.pidOf('control-plane');
    return now !== null && now !== before ? now : null;
  });
  await ask(caller, 'Until when is the swimming pool open?', 4);

  const running = await eventually('the call reads as active', 15_000, async () => {
    const now = await sessionDetail(parley, session.session_id).catch(() => null);
    return now?.status === 'active' && now.items.length === 7 ? now : null;
  });
  await caller.leave();
  const ended = await eventually('the call has ended', 10_000, async () => {
    const now = await sessionDetail(parley, session.session_id);
    return now.status === 'completed' ? now : null;
  });
  expect(ended.end_reason).toBe('user_hangup');
  expect(ended.items).toEqual(running.items);
  expect(ended.items.map((item) => item.role)).toEqual([
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
  ]);
  expect(ended.items.filter((item) => item.role === 'assistant').map((item) => item.content)).toEqual(
    caller.transcripts.filter((t) => t.role === 'agent').map((t) => t.text),
  );
});

async function ask(caller: RtcNodeCaller, text: string, answers: number): Promise<void> {
  await caller.sendEvent({ type: 'user.message', text, audio: true });
  await agentSays(caller, answers);
}

async function agentSays(caller: RtcNodeCaller, count: number): Promise<void> {
  await eventually(`agent utterance ${count}`, 30_000, () =>
    caller.transcripts.filter((t) => t.role === 'agent').length >= count && caller.agentState === 'listening'
      ? true
      : null,
  );
}
