import { systemClock } from '../../shared/time.ts';
import { tone } from '../support/pitch.ts';
import { joined, silence } from '../support/speech-samples.ts';
import { STUB_VOICE_HZ } from '../support/stub-engines.ts';
import { CALLER_RATE_HZ, type WrtcCaller } from '../support/wrtc-caller.ts';

/** Longest wait for an answer; a turn without one by then is a missed turn. */
const ANSWER_LIMIT_MS = 5_000;
const BREATH_MS = 400;

/** A time of each turn, and how many turns had none. */
export interface Heard {
  readonly ms: readonly number[];
  readonly missed: number;
}

/**
 * Says the sentence, waits for the answer and its end, and so on. Takes the time from the caller's last sound to the
 * agent's first, both at the caller.
 */
export async function converse(caller: WrtcCaller, sentence: Int16Array, endMs: number): Promise<Heard> {
  const ms: number[] = [];
  let missed = 0;
  while (performance.now() < endMs) {
    const said = await caller.say(sentence);
    const answer = await caller.toneAfter(said.firstMs, said.lastMs + ANSWER_LIMIT_MS);
    if (answer) {
      ms.push(answer.firstMs - said.lastMs);
      await caller.endOf(answer, performance.now() + ANSWER_LIMIT_MS);
    } else missed++;
    await systemClock.sleep(BREATH_MS);
  }
  return { ms, missed };
}

/** To an echo: says the sentence, then a short tone, and takes the time until that tone comes back. */
export async function callEcho(caller: WrtcCaller, sentence: Int16Array, endMs: number): Promise<Heard> {
  const burst = tone(STUB_VOICE_HZ, 200, CALLER_RATE_HZ);
  const ms: number[] = [];
  let missed = 0;
  while (performance.now() < endMs) {
    await caller.say(joined(sentence, silence(500, CALLER_RATE_HZ)));
    const saying = caller.say(burst);
    const { firstMs } = await saying;
    const back = await caller.toneAfter(firstMs, firstMs + 2_000);
    if (back) ms.push(back.firstMs - firstMs);
    else missed++;
    await systemClock.sleep(1_000);
  }
  return { ms, missed };
}

/** Speaks over the agent's long answer. Answers the time from the first sound of the caller to the agent's last. */
export async function interrupt(
  caller: WrtcCaller,
  words: Int16Array,
  listenMs: number,
): Promise<{ silenceHeardMs: number }> {
  const speaking = await caller.toneAfter(0, performance.now() + ANSWER_LIMIT_MS);
  if (!speaking) throw new Error('the agent does not speak');
  await systemClock.sleep(listenMs);
  const before = caller.tones.at(-1);
  if (!before || performance.now() - before.lastMs > 100) throw new Error('the agent has stopped by itself');
  const saying = caller.say(words);
  const endMs = await caller.endOf(before, performance.now() + ANSWER_LIMIT_MS);
  const { firstMs, lastMs } = await saying;
  if (endMs === null) throw new Error('the agent can not be interrupted');
  const answer = await caller.toneAfter(endMs, lastMs + ANSWER_LIMIT_MS);
  if (!answer) throw new Error('the interruption was not answered');
  return { silenceHeardMs: endMs - firstMs };
}
