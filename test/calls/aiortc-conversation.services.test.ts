import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectFile } from '../../shared/project-file.ts';
import { createCallerVoice } from '../support/caller-voice.ts';
import { eventually } from '../support/eventually.ts';
import { expectHotelConversation, HOTEL_CONFIG, HOTEL_QUESTIONS } from '../support/hotel-conversation.ts';
import {
  type Parley,
  publishedAgent,
  type SessionToken,
  sessionDetail,
  startParley,
  startSession,
} from '../support/parley.ts';
import { pythonWith } from '../support/python-venv.ts';
import { recognise } from '../support/recognise.ts';

let parley: Parley;
let dir: string;
let python: string;
beforeAll(async () => {
  [parley, dir, python] = await Promise.all([
    startParley(),
    mkdtemp(join(tmpdir(), 'parley-aiortc-')),
    pythonWith('aiortc', 'aiortc==1.16.0'),
  ]);
}, 300_000);
afterAll(async () => {
  await parley?.stop();
  await rm(dir, { recursive: true, force: true });
});

interface ChannelEvent {
  readonly type?: string;
  readonly role?: string;
  readonly text?: string;
  readonly final?: boolean;
  readonly state?: string;
}

/** The Python side process: what it told so far, and a way to tell it something. */
function startCaller(session: SessionToken, recording: string) {
  const url = `${session.rtc_url.replace(/^ws/, 'http')}/whip`;
  const script = projectFile('test/support/aiortc_caller.py');
  const child: ChildProcess = spawn(python, [script, url, session.token, recording], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const events: ChannelEvent[] = [];
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => events.push(JSON.parse(line)));
  return {
    events,
    tell: (order: object) => child.stdin?.write(`${JSON.stringify(order)}\n`),
    ended: new Promise<number | null>((resolve) => child.once('exit', resolve)),
  };
}

test('aiortc holds a spoken conversation of three turns through WHIP, and every record of it says the same', async () => {
  const agentId = await publishedAgent(parley, HOTEL_CONFIG);
  const session = await startSession(parley, agentId);
  const voice = await createCallerVoice('rms');
  const recording = join(dir, 'heard.pcm');
  const caller = startCaller(session, recording);
  const agentTexts = () =>
    caller.events
      .filter((e) => e.type === 'transcript' && e.role === 'agent' && e.final)
      .map((e) => e.text ?? '');
  const agentSays = (count: number) =>
    eventually(`agent utterance ${count}`, 30_000, () => {
      const state = caller.events.findLast((event) => event.type === 'agent.state')?.state;
      return agentTexts().length >= count && state === 'listening' ? true : null;
    });

  await agentSays(1);
  for (const [i, question] of HOTEL_QUESTIONS.entries()) {
    const file = join(dir, `question-${i}.pcm`);
    await writeFile(file, new Uint8Array((await voice.say(question)).buffer));
    caller.tell({ say: file });
    await agentSays(i + 2);
  }
  caller.tell({ leave: true });
  expect(await caller.ended).toBe(0);
  await voice.close();

  const detail = await eventually('the session has ended', 10_000, async () => {
    const now = await sessionDetail(parley, session.session_id);
    return now.status === 'completed' ? now : null;
  });
  expect(detail.end_reason).toBe('user_hangup');
  const heard = new Int16Array(Uint8Array.from(await readFile(recording)).buffer);
  expectHotelConversation(detail, agentTexts(), await recognise(heard, 48_000));
});
