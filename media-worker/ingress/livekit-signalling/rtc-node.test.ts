import { dispose, SimulateScenarioKind } from '@livekit/rtc-node';
import { afterAll, afterEach, expect, test } from 'vitest';
import { RtcNodeCaller } from '../../../test/conformance/rtc-node-caller.ts';
import { playTone, startTestIngress, type TestIngress } from '../../../test/conformance/test-ingress.ts';
import type { FakeSession } from '../../../test/fakes/fake-join-gate.ts';
import { toneShare } from '../../../test/support/pitch.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});
afterAll(() => dispose());

const WITHIN = { timeout: 10_000, interval: 20 };

async function setUp(options: Parameters<typeof startTestIngress>[0] = {}) {
  const started = await startTestIngress(options);
  cleanUps.push(() => started.ingress.stop());
  const session = started.gate.open('good');
  session.onMediaConnected = (connection) => cleanUps.push(playTone(connection, 1_000));
  return { ...started, session };
}

async function call({ wsUrl }: TestIngress, token = 'good'): Promise<RtcNodeCaller> {
  const caller = new RtcNodeCaller();
  cleanUps.push(() => caller.leave());
  await caller.connect(wsUrl, token);
  return caller;
}

/** How much of the last 200 ms at the caller is a sine of `hz`. */
function callerHears(caller: RtcNodeCaller, hz: number): number {
  const heard = caller.lastHeard(200);
  return heard ? toneShare(heard.samples, heard.rateHz, hz) : 0;
}

function agentHears(session: FakeSession, hz: number): number {
  const rateHz = session.heard.at(-1)?.sampleRateHz ?? 0;
  const frames = session.heard.slice(-20).filter((frame) => frame.sampleRateHz === rateHz);
  if (frames.length < 20) return 0;
  return toneShare(Int16Array.from(frames.flatMap((frame) => [...frame.samples])), rateHz, hz);
}

test.each(['uws', 'node'] as const)(
  'a caller and the agent hear each other (server on %s)',
  async (implementation) => {
    const ingress = await setUp({ implementation });
    const caller = await call(ingress);

    await caller.speakTone(400);

    await expect.poll(() => callerHears(caller, 1_000), WITHIN).toBeGreaterThan(0.95);
    await expect.poll(() => agentHears(ingress.session, 400), WITHIN).toBeGreaterThan(0.95);
    expect(callerHears(caller, 400)).toBeLessThan(0.05);
    expect(agentHears(ingress.session, 1_000)).toBeLessThan(0.05);
    expect(ingress.session.mediaConnectedCount).toBe(1);
  },
);

test('the agent is a participant of kind AGENT with one track, named by its sid', async () => {
  const ingress = await setUp();
  const caller = await call(ingress);

  const agents = [...caller.room.remoteParticipants.values()];

  await expect.poll(() => caller.agentTracks, WITHIN).toHaveLength(1);
  const publications = [...(agents[0]?.trackPublications.keys() ?? [])];
  expect(agents.map((agent) => [agent.name, agent.info.kind])).toEqual([['Test agent', 4]]);
  expect(caller.agentTracks).toEqual(publications);
  expect(publications[0]).toMatch(/^TR_/);
  expect(caller.room.name).toBe(ingress.session.id);
});

test('a caller without a microphone still gets the agent, after the wait for one', async () => {
  const ingress = await setUp({ liveness: { microphoneWaitMs: 50 } });

  const caller = await call(ingress);

  await expect.poll(() => callerHears(caller, 1_000), WITHIN).toBeGreaterThan(0.95);
});

test("agent segments come as one growing stream, caller segments as whole texts under the caller's identity", async () => {
  const ingress = await setUp();
  const caller = await call(ingress);
  await caller.speakTone(400);
  await expect.poll(() => ingress.session.mediaConnectedCount, WITHIN).toBe(1);
  const { connection } = ingress.session;
  const long = 'ä'.repeat(20_000);

  connection.sendUserTranscript('u1', 'hello', false);
  connection.sendUserTranscript('u1', 'hello there', true);
  connection.sendAgentTranscript('a1', 'Good ', false);
  connection.sendAgentTranscript('a1', 'day', false);
  connection.sendAgentTranscript('a1', '', true);
  connection.sendAgentTranscript('a2', long, true);

  await expect.poll(() => caller.transcripts.length, WITHIN).toBe(4);
  const seen = caller.transcripts.map(({ from, text, attributes }) => ({
    from,
    text,
    segment: attributes['lk.segment_id'],
    isFinal: attributes['lk.transcription_final'],
  }));
  const agent = `agent-${ingress.session.id}`;
  expect(seen).toContainEqual({ from: 'caller-good', text: 'hello', segment: 'u1', isFinal: undefined });
  expect(seen).toContainEqual({ from: 'caller-good', text: 'hello there', segment: 'u1', isFinal: 'true' });
  expect(seen.filter((one) => one.from === agent).map(({ text, segment }) => ({ text, segment }))).toEqual([
    { text: 'Good day', segment: 'a1' },
    { text: long, segment: 'a2' },
  ]);
  const tracks = caller.transcripts.filter((one) => one.from === agent).map((one) => one.attributes);
  expect(tracks[0]?.['lk.transcribed_track_id']).toBe(caller.agentTracks[0]);
});

test("the agent's state is an attribute of its participant, and events travel both ways", async () => {
  const ingress = await setUp();
  const caller = await call(ingress);
  await caller.speakTone(400);
  await expect.poll(() => ingress.session.mediaConnectedCount, WITHIN).toBe(1);

  ingress.session.connection.setAgentState('listening');
  ingress.session.connection.setAgentState('thinking');
  ingress.session.connection.sendEvent({ type: 'error', code: 'provider_error' });
  await caller.sendEvent('{no json');
  await caller.sendEvent({ type: 'user.unheard-of' });
  await caller.sendEvent({ type: 'user.message', text: 'hi' });

  await expect.poll(() => caller.agentStates, WITHIN).toEqual(['listening', 'thinking']);
  await expect.poll(() => caller.events, WITHIN).toEqual([{ type: 'error', code: 'provider_error' }]);
  await expect.poll(() => ingress.session.events, WITHIN).toEqual([{ type: 'user.message', text: 'hi' }]);
});

test("a call to a method of the agent's is refused, not left hanging", async () => {
  const ingress = await setUp();
  const caller = await call(ingress);
  await caller.speakTone(400);
  await expect.poll(() => ingress.session.mediaConnectedCount, WITHIN).toBe(1);

  const answer = caller.room.localParticipant?.performRpc({
    destinationIdentity: `agent-${ingress.session.id}`,
    method: 'anything',
    payload: '',
    responseTimeout: 5_000,
  });

  await expect(answer).rejects.toMatchObject({ code: 1400 });
});

test('joining again with the same token takes over; the first client is told so', async () => {
  const ingress = await setUp();
  const first = await call(ingress);
  await first.speakTone(400);
  await expect.poll(() => ingress.session.mediaConnectedCount, WITHIN).toBe(1);

  const second = await call(ingress);
  await second.speakTone(600);

  await expect.poll(() => first.disconnects, WITHIN).toEqual(['DUPLICATE_IDENTITY']);
  await expect.poll(() => agentHears(ingress.session, 600), WITHIN).toBeGreaterThan(0.95);
  await expect.poll(() => callerHears(second, 1_000), WITHIN).toBeGreaterThan(0.95);
  expect(ingress.session.gone).toEqual([]);
});

test('a caller who leaves has left', async () => {
  const ingress = await setUp({ liveness: { leaveGraceMs: 50 } });
  const caller = await call(ingress);
  await caller.speakTone(400);
  await expect.poll(() => ingress.session.mediaConnectedCount, WITHIN).toBe(1);

  await caller.leave();

  await expect.poll(() => ingress.session.gone, WITHIN).toEqual(['left']);
});

test('when the agent hangs up, its last event arrives before the room is deleted', async () => {
  const ingress = await setUp();
  const caller = await call(ingress);
  await caller.speakTone(400);
  await expect.poll(() => ingress.session.mediaConnectedCount, WITHIN).toBe(1);
  const ended = { type: 'session.ended', reason: 'agent_hangup' } as const;

  ingress.session.connection.sendEvent(ended);
  ingress.session.connection.close('agent_hangup');
  ingress.session.connection.close('internal_error');
  ingress.session.connection.sendEvent({ type: 'error', code: 'internal_error' });

  await expect.poll(() => caller.disconnects, WITHIN).toEqual(['ROOM_DELETED']);
  expect(caller.events).toEqual([ended]);
  expect(ingress.session.gone).toEqual([]);
});

test('a refused client learns why', async () => {
  const ingress = await setUp();
  ingress.gate.open('over');
  ingress.gate.end('over');

  await expect(call(ingress, 'forged')).rejects.toThrow(/Invalid token/);
  await expect(call(ingress, 'expired')).rejects.toThrow(/Token expired/);
  await expect(call(ingress, 'over')).rejects.toThrow(/Session has ended/);
  await expect(call(ingress, 'good')).resolves.toBeDefined();
});

test('a cut signalling socket is resumed without the session noticing', async () => {
  const ingress = await setUp();
  const caller = await call(ingress);
  await caller.speakTone(400);
  await expect.poll(() => agentHears(ingress.session, 400), WITHIN).toBeGreaterThan(0.95);

  await caller.room.simulateScenario(SimulateScenarioKind.SIMULATE_SIGNAL_RECONNECT);

  await expect.poll(() => caller.reconnectedCount, WITHIN).toBe(1);
  ingress.session.connection.setAgentState('listening');
  await expect.poll(() => caller.agentStates, WITHIN).toContain('listening');
  await expect.poll(() => callerHears(caller, 1_000), WITHIN).toBeGreaterThan(0.95);
  await expect.poll(() => agentHears(ingress.session, 400), WITHIN).toBeGreaterThan(0.95);
  expect(ingress.session.connections).toHaveLength(1);
  expect(ingress.session.gone).toEqual([]);
});

test('a client that starts over is heard again on a new connection', async () => {
  const ingress = await setUp();
  const caller = await call(ingress);
  await caller.speakTone(400);
  await expect.poll(() => agentHears(ingress.session, 400), WITHIN).toBeGreaterThan(0.95);

  await caller.room.simulateScenario(SimulateScenarioKind.SIMULATE_FULL_RECONNECT);

  await expect.poll(() => caller.reconnectedCount, WITHIN).toBe(1);
  await expect.poll(() => ingress.session.connections.length, WITHIN).toBe(2);
  await expect.poll(() => callerHears(caller, 1_000), WITHIN).toBeGreaterThan(0.95);
  ingress.session.heard.length = 0;
  await expect.poll(() => agentHears(ingress.session, 400), WITHIN).toBeGreaterThan(0.95);
  expect(ingress.session.gone).toEqual([]);
});
