import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';
import { SentenceSplitter } from '../../media-worker/llm/sentence-splitter.ts';
import { FliteEngine } from '../../media-worker/tts/engines/flite/flite-engine.ts';
import { silentLogger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';
import { createCallerVoice } from '../support/caller-voice.ts';
import { eventually } from '../support/eventually.ts';
import { type Parley, publishedAgent, sessionDetail, startParley, startSession } from '../support/parley.ts';
import { RtcNodeCaller, rms } from '../support/rtc-node-caller.ts';

/** What the client hears, and when, depends on two jitter buffers and on the machine's other work: it is printed here and budgeted in the bench. */
const TRIES = 20;
/** Louder than this is the agent; a decoder's comfort noise is far below. */
const LOUD_RMS = 150;
const FACTS = [
  'The Harbour Hotel has forty two rooms on six floors, and every one of them looks out over the old harbour.',
  'Breakfast is served from seven to ten in the morning in the garden room next to the lobby.',
  'The swimming pool on the roof is open until nine in the evening from spring to late autumn.',
  'Parking costs twelve dollars a night and the garage is right behind the building.',
  'Guests can borrow bicycles at the front desk and ride along the water to the lighthouse.',
];

let parley: Parley;
beforeAll(async () => {
  parley = await startParley();
}, 180_000);
afterAll(() => parley?.stop());

test('speech over a long answer silences it in time, the record keeps what was heard, and the next turn answers', async () => {
  const agentId = await publishedAgent(parley, {
    prompt: { system_prompt: FACTS.join(' '), first_message_mode: 'off' },
  });
  const session = await startSession(parley, agentId);
  const voice = await createCallerVoice('rms');
  const question = await voice.say('Wait please, how much does parking cost?');
  const leadMs = leadOf(question);
  const caller = new RtcNodeCaller();
  await caller.join(session.rtc_url, session.token);
  const heardMs: number[] = [];
  const audibleMs: number[] = [];
  let answers = 0;
  for (let i = 0; i < TRIES; i++) {
    const from = caller.heard.length;
    await caller.sendEvent({
      type: 'user.message',
      text: 'Tell me everything about the hotel.',
      audio: true,
    });
    const start = await eventually(
      'the long answer',
      10_000,
      () => caller.heard.slice(from).find(isLoud) ?? null,
    );
    await eventually('some of it was heard', 10_000, () =>
      performance.now() - start.atMs > 2_500 + (i % 5) * 300 ? true : null,
    );
    caller.spokeAtMs = null;
    caller.say(question);
    const onsetMs = leadMs + (await eventually('the caller speaks', 5_000, () => caller.spokeAtMs));
    const last = await eventually('silence', 5_000, () => lastLoudBeforeSilence(caller, onsetMs));
    heardMs.push(last - onsetMs);
    audibleMs.push(last - start.atMs);
    answers = await eventually('an answer about parking', 20_000, () => {
      const count = caller.transcripts.filter(
        (t) => t.role === 'agent' && /twelve/i.test(t.text) && /^(?!.*lighthouse)/.test(t.text),
      ).length;
      return count > answers && caller.agentState === 'listening' ? count : null;
    });
  }
  await caller.leave();
  await voice.close();
  const detail = await eventually('the end', 10_000, async () => {
    const now = await sessionDetail(parley, session.session_id);
    return now.status === 'completed' ? now : null;
  });
  const cut = detail.items.filter((item) => item.interrupted);
  const sentMs = await silenceSentMs(parley, session.session_id);
  const wordGaps = await wordsBetween(
    cut.map((item) => item.content ?? ''),
    audibleMs,
  );
  console.log(
    `silence sent p50 ${quantile(sentMs, 0.5)} p95 ${quantile(sentMs, 0.95)} ms; heard p50 ${quantile(heardMs, 0.5)} p95 ${quantile(heardMs, 0.95)} ms (${heardMs.map(Math.round).join(' ')}); words between record and recording ${wordGaps.join(' ')}`,
  );

  expect(cut).toHaveLength(TRIES);
  expect(sentMs).toHaveLength(TRIES);
  expect(quantile(sentMs, 0.95)).toBeLessThanOrEqual(250);
  expect(wordGaps.filter((gap) => Math.abs(gap) <= 1).length / TRIES).toBeGreaterThanOrEqual(0.95);
}, 600_000);

/** Silence and breath before the voice in a clip at 48 kHz, in ms. */
function leadOf(samples: Int16Array): number {
  for (let at = 0; at < samples.length; at += 480) {
    if (rms(samples.subarray(at, at + 480)) > 500) return at / 48;
  }
  return 0;
}

const isLoud = (frame: { samples: Int16Array }) => rms(frame.samples) > LOUD_RMS;

/** When the last loud frame before 400 ms of silence came, or null while there is no such silence after the onset. */
function lastLoudBeforeSilence(caller: RtcNodeCaller, onsetMs: number): number | null {
  let lastMs = onsetMs;
  for (const frame of caller.heard) {
    if (frame.atMs < onsetMs) continue;
    if (isLoud(frame)) lastMs = frame.atMs;
    else if (frame.atMs - lastMs > 400) return lastMs;
  }
  return null;
}

/** From the caller's onset, as it reached the worker, to the last frame of speech that can have been sent. */
async function silenceSentMs(service: Parley, sessionId: string): Promise<number[]> {
  const store = openEmbeddedStore({ file: join(service.dataDir, 'parley.db') });
  try {
    const logs = await store
      .collection<{ readonly _id: string; readonly text: string }>('session_logs')
      .find({ sessionId, kind: 'decision_log' });
    const sent: number[] = [];
    for (const line of logs.flatMap((log) => log.text.split('\n')).filter((text) => text !== '')) {
      const { event, commands } = JSON.parse(line);
      const isPaused = commands?.some((command: { type: string }) => command.type === 'pause');
      if (event?.type === 'speech.started' && isPaused)
        sent.push(Math.round(event.atMs - event.onsetMs) + 20);
    }
    return sent;
  } finally {
    await store.close();
  }
}

/** For each cut text: words kept minus words whose middle lies within the time that was audible at the client. */
async function wordsBetween(texts: readonly string[], audibleMs: readonly number[]): Promise<number[]> {
  const flite = new FliteEngine({ clock: systemClock, log: silentLogger });
  const gaps: number[] = [];
  for (const [i, text] of texts.entries()) {
    const splitter = new SentenceSplitter();
    const sentences = [...splitter.push(text), ...splitter.flush()];
    const fragment = sentences.at(-1) ?? '';
    sentences[sentences.length - 1] = FACTS.find((fact) => fact.startsWith(fragment)) ?? fragment;
    let offsetMs = 0;
    let heard = 0;
    for (const sentence of sentences) {
      for await (const chunk of flite.synthesize(
        { text: sentence, voice: 'slt', language: 'en', speed: 1 },
        AbortSignal.timeout(10_000),
      )) {
        if (chunk.type === 'audio') offsetMs += (chunk.samples.length * 1000) / chunk.sampleRateHz;
        else
          heard += chunk.words.filter(
            (word) => offsetMs + (word.startMs + word.endMs) / 2 <= (audibleMs[i] ?? 0),
          ).length;
      }
    }
    gaps.push(text.split(' ').length - heard);
  }
  await flite.close();
  return gaps;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(
    sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? Number.POSITIVE_INFINITY,
  );
}
