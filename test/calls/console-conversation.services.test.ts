import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../conformance/chromium.ts';
import { ConsolePage } from '../conformance/console-page.ts';
import { createCallerVoice } from '../support/caller-voice.ts';
import { eventually } from '../support/eventually.ts';
import { expectHotelConversation, HOTEL_CONFIG, HOTEL_QUESTIONS } from '../support/hotel-conversation.ts';
import { type Parley, publishedAgent, sessionDetail, startParley } from '../support/parley.ts';
import { recognise } from '../support/recognise.ts';

let parley: Parley;
let browser: Browser;
beforeAll(async () => {
  [parley, browser] = await Promise.all([startParley(), launchChromium()]);
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await parley?.stop();
});

test('livekit-client in the console holds a spoken conversation of three turns, and every record of it says the same', async () => {
  const agentId = await publishedAgent(parley, HOTEL_CONFIG);
  const voice = await createCallerVoice('rms');
  const console = await ConsolePage.open(browser, parley, { microphone: 'scripted' });
  await console.signIn(parley.apiKey);
  await console.page.getByRole('link', { name: 'New agent' }).waitFor();
  await console.page.goto(`${parley.baseUrl}/console#/agents/${agentId}/talk`);

  await console.call();
  await console.agentHasSpoken(1);
  for (const [i, question] of HOTEL_QUESTIONS.entries()) {
    await console.speak(await voice.say(question));
    await console.agentHasSpoken(i + 2);
  }
  const shown = await console.transcript();
  await console.page.waitForTimeout(500);
  const recording = await console.recording();
  await console.hangUp();
  await voice.close();

  const list = await parley.call('GET', `/v1/agent/sessions?agent_id=${agentId}`);
  const sessionId = (list.body as { sessions: { session_id: string }[] }).sessions[0]?.session_id ?? '';
  const detail = await eventually('the session has ended', 10_000, async () => {
    const now = await sessionDetail(parley, sessionId);
    return now.status === 'completed' ? now : null;
  });
  expect(detail.end_reason).toBe('user_hangup');
  const agentTexts = shown.filter((line) => line.role === 'agent').map((line) => line.text);
  expectHotelConversation(detail, agentTexts, await recognise(recording, 48_000));
  expect(console.errors).toEqual([]);
});
