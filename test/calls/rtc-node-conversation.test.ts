import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCallerVoice } from '../support/caller-voice.ts';
import { eventually } from '../support/eventually.ts';
import { expectHotelConversation, HOTEL_CONFIG, HOTEL_QUESTIONS } from '../support/hotel-conversation.ts';
import { type Parley, publishedAgent, sessionDetail, startParley, startSession } from '../support/parley.ts';
import { recognise } from '../support/recognise.ts';
import { RtcNodeCaller } from '../support/rtc-node-caller.ts';
import { joined } from '../support/speech-samples.ts';

let parley: Parley;
beforeAll(async () => {
  parley = await startParley();
}, 180_000);
afterAll(() => parley?.stop());

test('a LiveKit client holds a spoken conversation of three turns, and every record of it says the same', async () => {
  const agentId = await publishedAgent(parley, HOTEL_CONFIG);
  const session = await startSession(parley, agentId);
  const voice = await createCallerVoice('rms');
  const caller = new RtcNodeCaller();
  await caller.join(session.rtc_url, session.token);

  await agentSays(caller, 1);
  for (const [i, text] of HOTEL_QUESTIONS.entries()) {
    caller.say(await voice.say(text));
    await agentSays(caller, i + 2);
  }
  await eventually('the last words have arrived', 5_000, () => (caller.hearsSilence(500) ? true : null));
  await caller.leave();
  await voice.close();

  const detail = await eventually('the session has ended', 10_000, async () => {
    const now = await sessionDetail(parley, session.session_id);
    return now.status === 'completed' ? now : null;
  });
  expect(detail.end_reason).toBe('user_hangup');
  const recording = joined(...caller.heard.map((frame) => frame.samples));
  const agentTranscripts = caller.transcripts.filter((t) => t.role === 'agent').map((t) => t.text);
  expectHotelConversation(detail, agentTranscripts, await recognise(recording, 48_000));
});

/** Waits for the agent's `count`th whole utterance to have been heard. */
async function agentSays(caller: RtcNodeCaller, count: number): Promise<void> {
  await eventually(`agent utterance ${count}`, 30_000, () =>
    caller.transcripts.filter((t) => t.role === 'agent').length >= count && caller.agentState === 'listening'
      ? true
      : null,
  );
}
