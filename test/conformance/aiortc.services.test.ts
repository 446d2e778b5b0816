import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { projectFile } from '../../shared/project-file.ts';
import type { FakeSession } from '../fakes/fake-join-gate.ts';
import { toneShare } from '../support/pitch.ts';
import { pythonWith } from '../support/python-venv.ts';
import { playTone, startTestIngress } from './test-ingress.ts';

const WITHIN = { timeout: 20_000, interval: 50 };
const cleanUps: (() => unknown)[] = [];
let python = '';

beforeAll(async () => {
  await pythonWith('numpy', 'numpy>=1.26,<3');
  python = await pythonWith('aiortc', 'aiortc==1.16.0');
}, 240_000);
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

interface Said {
  readonly status?: number;
  readonly location?: string;
  readonly heard_hz?: number;
  readonly message?: unknown;
  readonly channel?: string;
  readonly deleted?: number;
}

/** The unmodified aiortc in its own process. */
class AiortcCaller {
  readonly said: Said[] = [];
  readonly #process: ChildProcessWithoutNullStreams;

  constructor(url: string, token: string, hz: number) {
    const script = projectFile('test/conformance/aiortc_caller.py');
    this.#process = spawn(python, [script, url, token, String(hz)]);
    createInterface(this.#process.stdout).on('line', (line) => this.said.push(JSON.parse(line)));
    createInterface(this.#process.stderr).on('line', () => {});
    cleanUps.push(() => this.#process.kill('SIGKILL'));
  }

  tell(command: object): void {
    this.#process.stdin.write(`${JSON.stringify(command)}\n`);
  }

  /** Stops without a word, as when the machine loses its power. */
  vanish(): void {
    this.#process.kill('SIGKILL');
  }

  all<K extends keyof Said>(key: K): NonNullable<Said[K]>[] {
    return this.said.flatMap((one) => {
      const value = one[key];
      return value === undefined || value === null ? [] : [value];
    });
  }
}

async function setUp(options: Parameters<typeof startTestIngress>[0] = {}) {
  const started = await startTestIngress(options);
  cleanUps.push(() => started.ingress.stop());
  const session = started.gate.open('good');
  session.onMediaConnected = (connection) => cleanUps.push(playTone(connection, 1_000));
  return {
    ...started,
    session,
    call: (token = 'good') => new AiortcCaller(`${started.httpUrl}/whip`, token, 440),
  };
}

function agentHears(session: FakeSession, hz: number): number {
  const frames = session.heard.slice(-20).filter((frame) => frame.sampleRateHz === 48_000);
  if (frames.length < 20) return 0;
  return toneShare(Int16Array.from(frames.flatMap((frame) => [...frame.samples])), 48_000, hz);
}

test('aiortc and the agent hear each other through WHIP, and events travel both ways', async () => {
  const { session, call } = await setUp();

  const caller = call();

  await expect.poll(() => caller.all('heard_hz').at(-1), WITHIN).toSatisfy((hz) => Math.abs(hz - 1_000) < 5);
  await expect.poll(() => agentHears(session, 440), WITHIN).toBeGreaterThan(0.9);
  expect(caller.all('status')).toEqual([201]);
  session.connection.setAgentState('listening');
  session.connection.sendUserTranscript('u1', 'hello', true);
  session.connection.sendAgentTranscript('a1', 'Good ', false);
  session.connection.sendAgentTranscript('a1', 'day', true);
  session.connection.sendEvent({ type: 'error', code: 'provider_error' });
  caller.tell({ send: { type: 'user.message', text: 'hi' } });
  await expect
    .poll(() => caller.all('message'), WITHIN)
    .toEqual([
      { type: 'agent.state', state: 'listening' },
      { type: 'transcript', role: 'user', segment_id: 'u1', text: 'hello', final: true },
      { type: 'transcript', role: 'agent', segment_id: 'a1', text: 'Good ', final: false },
      { type: 'transcript', role: 'agent', segment_id: 'a1', text: 'Good day', final: true },
      { type: 'error', code: 'provider_error' },
    ]);
  await expect.poll(() => session.events, WITHIN).toEqual([{ type: 'user.message', text: 'hi' }]);
});

test('DELETE hangs up', async () => {
  const { session, call } = await setUp();
  const caller = call();
  await expect.poll(() => session.mediaConnectedCount, WITHIN).toBe(1);

  caller.tell({ hang_up: true });

  await expect.poll(() => caller.all('deleted'), WITHIN).toEqual([200]);
  expect(session.gone).toEqual(['left']);
});

test('a client that vanishes is lost', async () => {
  const { session, call } = await setUp({ liveness: { checkIntervalMs: 200, mediaSilenceMs: 2_000 } });
  const caller = call();
  await expect.poll(() => session.mediaConnectedCount, WITHIN).toBe(1);

  caller.vanish();

  await expect.poll(() => session.gone, WITHIN).toEqual(['lost']);
});
