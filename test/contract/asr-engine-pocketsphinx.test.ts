import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { AsrSession } from '../../media-worker/asr/asr-engine.ts';
import { PocketSphinxEngine } from '../../media-worker/asr/engines/pocketsphinx/pocketsphinx-engine.ts';
import { loadResampler } from '../../media-worker/codec/resample.ts';
import { silentLogger } from '../../shared/log.ts';
import { projectFile } from '../../shared/project-file.ts';
import { systemClock } from '../../shared/time.ts';
import { asrPython } from '../support/asr-environment.ts';
import { CALLER_RATE_HZ, createCallerVoice } from '../support/caller-voice.ts';
import { amplified, joined, SPEECH_TEXTS, silence, speechSample } from '../support/speech-samples.ts';
import { wordErrors } from '../support/word-errors.ts';
import { collect, frames, queued } from './asr-engine.contract.ts';

const HOST_FILE = 'media-worker/asr/engines/pocketsphinx/pocketsphinx_host.py';
const RATE_HZ = 16_000;
const SENTENCES = [
  'I would like to book a table for four people tomorrow evening',
  'can you tell me how much it costs to send a package to London',
  'my order has not arrived yet and I am a little worried',
  'thank you very much that is all for today',
  'I need help with my account because I forgot my password',
  'yes that sounds good to me',
  'where can I find the nearest train station',
  'let me think about it and call you back later',
];
let pythonPath = '';

beforeAll(async () => {
  pythonPath = await asrPython();
}, 150_000);

async function setUp() {
  const children: ChildProcessWithoutNullStreams[] = [];
  const launch = () => {
    const child = spawn(pythonPath, [projectFile(HOST_FILE)], { env: { PYTHONDONTWRITEBYTECODE: '1' } });
    children.push(child);
    return child;
  };
  const engine = new PocketSphinxEngine({
    clock: systemClock,
    log: silentLogger,
    pythonPath,
    maxSessions: 2,
    launch,
  });
  onTestFinished(() => engine.close());
  return { engine, children, session: await engine.open({ language: 'en', keyterms: [] }) };
}

async function textOf(session: AsrSession, samples: Int16Array): Promise<string> {
  const heard = await collect(session, queued(frames(samples)));
  return heard.at(-1)?.text ?? '';
}

test('of what the test callers say over a wideband line at most 15 % of the words are wrong', async () => {
  const { engine } = await setUp();
  const openResampler = await loadResampler();
  let errors = 0;
  let words = 0;
  for (const voice of ['rms', 'awb', 'kal16'] as const) {
    const caller = await createCallerVoice(voice);
    onTestFinished(() => caller.close());
    const session = await engine.open({ language: 'en', keyterms: [] });
    for (const sentence of SENTENCES) {
      const resampler = openResampler(CALLER_RATE_HZ, RATE_HZ);
      const samples = joined(
        silence(300),
        resampler.push(await caller.say(sentence)),
        resampler.flush(),
        silence(400),
      );
      resampler.close();
      const found = wordErrors(sentence, await textOf(session, samples));
      errors += found.errors;
      words += found.words;
    }
    await session.close();
  }

  expect(words).toBeGreaterThan(200);
  expect(errors / words).toBeLessThanOrEqual(0.15);
}, 120_000);

test('a quiet microphone is understood as well', async () => {
  const { session } = await setUp();

  const text = await textOf(session, amplified(speechSample('rms'), 0.03));

  const { errors, words } = wordErrors(SPEECH_TEXTS.rms, text);
  expect(errors / words, text).toBeLessThanOrEqual(0.34);
});

test.each([
  ['hiss', () => noise(3_000, 3_000)],
  ['a cough', () => joined(silence(300), noise(250, 12_000), silence(400))],
  ['a tone', () => Int16Array.from({ length: 32_000 }, (_, i) => 8_000 * Math.sin(i * 0.17))],
  ['a breath of 150 ms', () => noise(150, 800)],
])('no words are made of %s', async (_what, sound) => {
  const { session } = await setUp();

  expect(await textOf(session, sound())).toBe('');
});

test('when the process dies the utterance fails, and the next one is understood by a new process', async () => {
  const { session, children } = await setUp();
  const audio = queued(frames(speechSample('rms')), { isEnded: false });
  const failed = expect(collect(session, audio)).rejects.toMatchObject({ kind: 'upstream_failed' });
  await new Promise((resolve) => setImmediate(resolve));

  children[0]?.kill('SIGKILL');
  await failed;
  while (children.length < 2) await systemClock.sleep(20);

  const { errors, words } = wordErrors(SPEECH_TEXTS.rms, await textOf(session, speechSample('rms')));
  expect(errors / words).toBeLessThanOrEqual(0.34);
});

test('the process ends when its input closes, also in the midst of its work', async () => {
  const { session, children } = await setUp();
  const heard = collect(session, queued(frames(speechSample('rms')), { isEnded: false })).catch(() => []);
  const child = children[0];
  const exited = new Promise((resolve) => child?.once('exit', resolve));

  child?.stdin.end();

  expect(await exited).toBe(0);
  await heard;
});

/** White noise, the same each time (Park and Miller's generator). */
function noise(ms: number, level: number): Int16Array {
  let state = 1;
  return Int16Array.from({ length: (ms * RATE_HZ) / 1000 }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state / 2_147_483_647 - 0.5) * 2 * level;
  });
}
