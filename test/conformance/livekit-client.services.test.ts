import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { FakeSession } from '../fakes/fake-join-gate.ts';
import { toneShare } from '../support/pitch.ts';
import { launchChromium } from './chromium.ts';
import { LivekitPageCaller, livekitPageRoutes } from './livekit-client-page.ts';
import { playTone, startTestIngress } from './test-ingress.ts';

const WITHIN = { timeout: 15_000, interval: 50 };
const cleanUps: (() => unknown)[] = [];
let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function setUp(options: Parameters<typeof startTestIngress>[0] = {}) {
  const started = await startTestIngress({ http: livekitPageRoutes, ...options });
  cleanUps.push(() => started.ingress.stop());
  const session = started.gate.open('good');
  session.onMediaConnected = (connection) => cleanUps.push(playTone(connection, 1_000));
  // The page comes from `localhost`, the worker is `127.0.0.1`: another origin to a browser.
  const openPage = () =>
    LivekitPageCaller.open(
      browser,
      started.httpUrl.replace('127.0.0.1', 'localhost').replace('[::1]', 'localhost'),
    );
  return { ...started, session, openPage };
}

function agentHears(session: FakeSession, hz: number): number {
  const frames = session.heard.slice(-20).filter((frame) => frame.sampleRateHz === 48_000);
  if (frames.length < 20) return 0;
  return toneShare(Int16Array.from(frames.flatMap((frame) => [...frame.samples])), 48_000, hz);
}

test('livekit-client in Chromium and the agent hear each other, and all that is said beside arrives', async () => {
  const { session, wsUrl, openPage } = await setUp();
  const caller = await openPage();

  expect(await caller.connect(wsUrl, 'good')).toBeNull();
  await caller.speakTone(440);
  await expect.poll(() => caller.heardHz(), WITHIN).toSatisfy((hz: number) => Math.abs(hz - 1_000) < 15);
  await expect.poll(() => agentHears(session, 440), WITHIN).toBeGreaterThan(0.9);
  session.connection.setAgentState('listening');
  session.connection.sendEvent({ type: 'error', code: 'provider_error' });
  session.connection.sendUserTranscript('u1', 'hello there', true);
  session.connection.sendAgentTranscript('a1', 'Good ', false);
  session.connection.sendAgentTranscript('a1', 'day', true);
  await caller.sendEvent({ type: 'user.message', text: 'hi' });

  await expect.poll(async () => (await caller.seen()).transcripts.length, WITHIN).toBe(2);
  await expect.poll(async () => (await caller.seen()).states, WITHIN).toEqual(['listening']);
  const seen = await caller.seen();
  expect(seen.events).toEqual([{ type: 'error', code: 'provider_error' }]);
  expect(seen.tracks).toEqual([{ sid: expect.stringMatching(/^TR_/), isAgent: true }]);
  const said = seen.transcripts.map(({ from, text, attributes }) => [
    from,
    text,
    attributes['lk.transcription_final'],
  ]);
  expect(said).toContainEqual(['caller-good', 'hello there', 'true']);
  expect(said).toContainEqual([`agent-${session.id}`, 'Good day', 'true']);
  await expect.poll(() => session.events, WITHIN).toEqual([{ type: 'user.message', text: 'hi' }]);
});

test('a muted microphone is silent, an unmuted one is heard again', async () => {
  const { session, wsUrl, openPage } = await setUp();
  const caller = await openPage();
  await caller.connect(wsUrl, 'good');
  await caller.speakTone(440);
  await expect.poll(() => agentHears(session, 440), WITHIN).toBeGreaterThan(0.9);

  await caller.setMuted(true);
  await expect.poll(() => agentHears(session, 440), WITHIN).toBe(0);
  await caller.setMuted(false);

  await expect.poll(() => agentHears(session, 440), WITHIN).toBeGreaterThan(0.9);
});

test('a refused browser learns why', async () => {
  const { gate, wsUrl, openPage } = await setUp();
  gate.open('over');
  gate.end('over');
  const caller = await openPage();

  expect(await caller.connect(wsUrl, 'forged')).toContain('Invalid token');
  expect(await caller.connect(wsUrl, 'expired')).toContain('Token expired');
  expect(await caller.connect(wsUrl, 'over')).toContain('Session has ended');
});

test.each(['signal-reconnect', 'full-reconnect'] as const)(
  'a browser comes back after a %s',
  async (scenario) => {
    const { session, wsUrl, openPage } = await setUp();
    const caller = await openPage();
    await caller.connect(wsUrl, 'good');
    await caller.speakTone(440);
    await expect.poll(() => agentHears(session, 440), WITHIN).toBeGreaterThan(0.9);

    await caller.simulate(scenario);

    await expect.poll(async () => (await caller.seen()).reconnects, WITHIN).toBe(1);
    session.heard.length = 0;
    await expect.poll(() => agentHears(session, 440), WITHIN).toBeGreaterThan(0.9);
    await expect.poll(() => caller.heardHz(), WITHIN).toSatisfy((hz: number) => Math.abs(hz - 1_000) < 15);
    expect(session.gone).toEqual([]);
  },
);

test('the end of the call reaches the browser with its reason', async () => {
  const { session, wsUrl, openPage } = await setUp();
  const caller = await openPage();
  await caller.connect(wsUrl, 'good');
  await caller.speakTone(440);
  await expect.poll(() => session.mediaConnectedCount, WITHIN).toBe(1);

  session.connection.sendEvent({ type: 'session.ended', reason: 'agent_hangup' });
  session.connection.close('agent_hangup');

  await expect.poll(async () => (await caller.seen()).disconnects, WITHIN).toEqual(['ROOM_DELETED']);
  expect((await caller.seen()).events).toEqual([{ type: 'session.ended', reason: 'agent_hangup' }]);
});

test('a browser that leaves has left; one that vanishes is lost', async () => {
  const { gate, session, wsUrl, openPage } = await setUp({
    liveness: { leaveGraceMs: 50, resumeWindowMs: 200, checkIntervalMs: 50 },
  });
  const vanishing = gate.open('vanishing');
  const leaver = await openPage();
  const vanisher = await openPage();
  await leaver.connect(wsUrl, 'good');
  await vanisher.connect(wsUrl, 'vanishing');

  await leaver.leave();
  await vanisher.crash();

  await expect.poll(() => session.gone, WITHIN).toEqual(['left']);
  await expect.poll(() => vanishing.gone, WITHIN).toEqual(['lost']);
});
