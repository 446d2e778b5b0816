import { expect, test } from 'vitest';
import { FakeCallerConnection } from '../../test/fakes/fake-caller-connection.ts';
import { says } from '../../test/fakes/fake-llm.ts';
import { startCall } from '../../test/fakes/session-setup.ts';

const LONG = 'one two three four five six seven eight nine ten eleven twelve.';
const messages = (call: Awaited<ReturnType<typeof startCall>>) =>
  call
    .items()
    .map((item) =>
      item.type === 'message' ? [item.role, item.content, item.interrupted ?? null] : [item.type],
    );

test('a fixed greeting is spoken verbatim, and its transcript grows with what is heard', async () => {
  const call = await startCall({
    spec: { firstMessageMode: 'fixed', firstMessage: 'Hello from the front desk.' },
  });
  call.join();

  await call.silence(450);
  const early = call.connection.agentSegments.get('agent-1');
  await call.silence(1_500);

  expect(call.llm.requests).toEqual([]);
  expect(early).toEqual({ text: 'Hello from', isFinal: false });
  expect(call.connection.agentSegments.get('agent-1')).toEqual({
    text: 'Hello from the front desk.',
    isFinal: true,
  });
  expect(messages(call)).toEqual([['assistant', 'Hello from the front desk.', false]]);
});

test('a prompted greeting is the model’s, from the greeting instruction', async () => {
  const call = await startCall({
    spec: { firstMessageMode: 'prompt', firstMessagePrompt: 'Greet in one word.' },
    replies: [says('Hello.')],
  });
  call.join();
  await call.silence(1_000);

  expect(call.llm.requests[0]?.messages.at(-1)?.content).toContain('Greet in one word.');
  expect(messages(call)).toEqual([['assistant', 'Hello.', false]]);
});

test('without a greeting the agent listens', async () => {
  const call = await startCall();
  call.join();
  await call.silence(2_000);

  expect(call.connection.states.at(-1)).toBe('listening');
  expect(call.connection.wasAudible(0, 2_000)).toBe(false);
});

test('a turn goes from speech to answer: states, transcripts, history and items', async () => {
  const call = await startCall({ hears: ['when do you open'], replies: [says('We open at nine.')] });
  call.join();
  await call.silence(500);
  await call.speak(1_000);
  await call.silence(3_000);

  expect(call.connection.states).toEqual(['initializing', 'listening', 'thinking', 'speaking', 'listening']);
  expect([...call.connection.userSegments.values()]).toEqual([{ text: 'when do you open', isFinal: true }]);
  expect(call.llm.requests[0]?.messages.at(-1)).toEqual({ role: 'user', content: 'when do you open' });
  expect(messages(call)).toEqual([
    ['user', 'when do you open', null],
    ['assistant', 'We open at nine.', false],
  ]);
});

test('the recogniser hears the utterance with its pre-roll and little more', async () => {
  const call = await startCall({ hears: ['hello'] });
  call.join();
  await call.silence(1_000);
  await call.speak(1_000);
  await call.silence(1_500);

  expect(call.asr.heardMs).toHaveLength(1);
  expect(call.asr.heardMs[0]).toBeGreaterThanOrEqual(1_250);
  expect(call.asr.heardMs[0]).toBeLessThanOrEqual(1_750);
});

test('speaking over the agent silences it within 250 ms and keeps only the heard words', async () => {
  const call = await startCall({
    hears: ['count for me', 'stop please'],
    replies: [says(LONG), says('Stopped.')],
  });
  call.join();
  await call.silence(300);
  await call.speak(800);
  await call.silence(1_900);
  const onsetMs = call.nowMs();
  expect(call.connection.wasAudible(onsetMs - 100, onsetMs)).toBe(true);

  await call.speak(800);
  await call.silence(3_000);

  expect(call.connection.wasAudible(onsetMs + 250, onsetMs + 800)).toBe(false);
  const [, cut, , answer] = messages(call);
  expect(cut?.[2]).toBe(true);
  expect(LONG.startsWith(String(cut?.[1]))).toBe(true);
  const words = String(cut?.[1]).split(' ').length;
  expect(words).toBeGreaterThanOrEqual(4);
  expect(words).toBeLessThanOrEqual(9);
  expect(call.connection.agentSegments.get('agent-1')).toEqual({ text: cut?.[1], isFinal: true });
  expect(answer).toEqual(['assistant', 'Stopped.', false]);
  expect(
    call.llm.requests[1]?.messages.some((m) => m.role === 'assistant' && m.content === `${cut?.[1]} …`),
  ).toBe(true);
});

test('a backchannel pauses the agent and lets it go on to the end', async () => {
  const call = await startCall({ hears: ['count for me', 'uh huh'], replies: [says(LONG)] });
  call.join();
  await call.speak(800);
  await call.silence(1_900);
  await call.speak(300);
  await call.silence(4_000);

  expect(messages(call)).toEqual([
    ['user', 'count for me', null],
    ['assistant', LONG, false],
  ]);
});

test('a final text that comes too late closes the segment with the words that became history', async () => {
  const call = await startCall({ hears: ['too late'], finalDelayMs: 6_000 });
  call.join();
  await call.speak(800);
  await call.silence(8_000);

  expect([...call.connection.userSegments.values()]).toEqual([{ text: '', isFinal: true }]);
  expect(messages(call)).toEqual([]);
});

test('a typed message without audio is answered by text alone', async () => {
  const call = await startCall({ replies: [says('By mail. Or by phone.')] });
  call.join();
  call.listener.onClientEvent({ type: 'user.message', text: 'How?', audio: false });
  await call.silence(500);

  expect(call.connection.agentSegments.get('agent-1')).toEqual({
    text: 'By mail. Or by phone.',
    isFinal: true,
  });
  expect(call.connection.wasAudible(0, 500)).toBe(false);
  expect(messages(call)).toEqual([
    ['user', 'How?', null],
    ['assistant', 'By mail. Or by phone.', false],
  ]);
});

test('hang_up_call ends the call when the goodbye has been heard', async () => {
  const bye = [
    ...says('Goodbye then.'),
    { type: 'tool_call' as const, call: { callId: 'c1', name: 'hang_up_call', argumentsJson: '{}' } },
  ];
  const call = await startCall({
    hears: ['bye'],
    replies: [bye],
    config: { tools: { system_tools: { hang_up_call: true } } },
  });
  call.join();
  await call.speak(600);
  await call.silence(2_500);

  expect(call.ended()).toMatchObject({ status: 'completed', endReason: 'agent_hangup' });
  expect(call.connection.closedWith).toBe('agent_hangup');
  expect(call.connection.events.at(-1)).toEqual({ type: 'session.ended', reason: 'agent_hangup' });
  expect(messages(call)).toEqual([
    ['user', 'bye', null],
    ['tool_call'],
    ['tool_result'],
    ['assistant', 'Goodbye then.', false],
  ]);
  expect(call.hasEnded()).toBe(true);
  expect(call.asr.openSessions).toBe(0);
});

test('a model that fails is apologised for, and the third time in a row ends the call as failed', async () => {
  const call = await startCall({ hears: ['one', 'two', 'three'], replies: [[{ type: 'fail' }]] });
  call.join();
  for (let i = 0; i < 2; i++) {
    await call.speak(500);
    await call.silence(5_000);
  }
  expect(call.ended()).toBeNull();
  expect(call.connection.events.filter((e) => e.type === 'error')).toHaveLength(2);

  await call.speak(500);
  await call.silence(5_000);

  expect(call.ended()).toMatchObject({ status: 'failed', endReason: 'internal_error' });
});

test('a second connection with the same token takes over; the first is told so', async () => {
  const call = await startCall({ spec: { firstMessageMode: 'fixed', firstMessage: LONG } });
  call.join();
  await call.silence(1_000);
  const second = new FakeCallerConnection(call.nowMs);
  const listener = call.session.attach(second);
  call.listener.onGone('left');
  listener.onMediaConnected();
  await call.silence(1_000);

  expect(call.connection.closedWith).toBe('replaced');
  expect(call.ended()).toBeNull();
  expect(second.wasAudible(1_000, 2_000)).toBe(true);
});

test('a caller who is lost and back within the window hears the rest', async () => {
  const call = await startCall({ spec: { firstMessageMode: 'fixed', firstMessage: LONG } });
  call.join();
  await call.silence(1_000);
  call.listener.onGone('lost');
  await call.clock.advance(5_000);
  const second = new FakeCallerConnection(call.nowMs);
  call.session.attach(second).onMediaConnected();
  await call.clock.advance(3_000);

  expect(call.ended()).toBeNull();
  expect(messages(call)).toEqual([['assistant', LONG, false]]);
});

test('a caller who does not come back ends the call as a heartbeat timeout', async () => {
  const call = await startCall();
  call.join();
  await call.silence(500);
  call.listener.onGone('lost');
  await call.clock.advance(15_100);

  expect(call.ended()).toMatchObject({ status: 'completed', endReason: 'heartbeat_timeout' });
});

test('the caller’s hangup ends the call once, with its times', async () => {
  const call = await startCall();
  call.join();
  await call.silence(2_000);
  call.listener.onClientEvent({ type: 'user.hangup' });
  call.listener.onGone('left');
  call.session.end('internal_error');

  const ends = call.published.filter((event) => event.$case === 'ended');
  expect(ends).toHaveLength(1);
  expect(call.ended()).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  const { startedAtMs = 0, endedAtMs = 0 } = call.ended() ?? {};
  expect(endedAtMs - startedAtMs).toBe(2_000);
});

test('a caller who typed and said nothing else is not cut off while the agent speaks, and idles out after', async () => {
  const call = await startCall({
    config: { conversation: { hangup_after_seconds: 10 } },
    replies: [says(LONG)],
  });
  call.join();
  await call.clock.advance(9_000);
  call.listener.onClientEvent({ type: 'user.message', text: 'Hi' });
  await call.clock.advance(12_000);
  expect(call.ended()).toBeNull();
  await call.clock.advance(2_000);

  expect(call.ended()).toMatchObject({ endReason: 'agent_hangup' });
});
