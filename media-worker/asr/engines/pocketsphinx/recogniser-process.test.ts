import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { silentLogger } from '../../../../shared/log.ts';
import { FakeClock } from '../../../../test/fakes/fake-clock.ts';
import type { HeardMessage } from './host-protocol.ts';
import { type HostChild, RecogniserProcess } from './recogniser-process.ts';

/** A side process in the test's hands. */
class FakeHost extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  exitCode: number | null = null;
  signalCode: string | null = null;

  kill(): boolean {
    this.die('SIGKILL');
    return true;
  }

  die(signal: string): void {
    if (this.signalCode !== null) return;
    this.signalCode = signal;
    this.emit('exit', null, signal);
  }

  async say(message: object): Promise<void> {
    this.stdout.write(`${JSON.stringify(message)}\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function setUp() {
  const clock = new FakeClock();
  const hosts: FakeHost[] = [];
  const launch = () => {
    const host = new FakeHost();
    hosts.push(host);
    // As much of a child process as is used.
    return host as unknown as HostChild;
  };
  const recogniser = new RecogniserProcess({ clock, log: silentLogger, pythonPath: 'python3', launch });
  async function start(): Promise<FakeHost> {
    const started = recogniser.start();
    const host = hosts.at(-1);
    if (!host) throw new Error('no process was started');
    await host.say({ type: 'ready' });
    await started;
    return host;
  }
  return { clock, hosts, recogniser, start };
}

const final = (utterance: number): HeardMessage => ({
  type: 'final',
  utterance,
  text: 'yes',
  confidence: 1,
  words: [],
  ms: 500,
});

test('it starts when it is needed, once', async () => {
  const { hosts, recogniser, start } = setUp();
  expect(hosts).toHaveLength(0);

  await start();
  await recogniser.start();

  expect(hosts).toHaveLength(1);
});

test('a process that is not ready within 20 s is killed and refused', async () => {
  const { clock, hosts, recogniser } = setUp();
  const started = recogniser.start();
  const refused = expect(started).rejects.toMatchObject({ kind: 'unavailable' });

  await clock.advance(20_000);

  await refused;
  expect(hosts[0]?.signalCode).toBe('SIGKILL');
});

test('each utterance hears its own messages, and none after it was forgotten', async () => {
  const { recogniser, start } = setUp();
  const host = await start();
  const heard: number[] = [];
  for (const id of [1, 2]) recogniser.listen(id, { put: () => heard.push(id), fail: () => {} });

  await host.say(final(2));
  recogniser.forget(2);
  await host.say(final(2));
  await host.say(final(1));

  expect(heard).toEqual([2, 1]);
});

test('a crash fails every utterance under way', async () => {
  const { recogniser, start } = setUp();
  const host = await start();
  const errors: unknown[] = [];
  for (const id of [1, 2]) recogniser.listen(id, { put: () => {}, fail: (error) => errors.push(error) });

  host.die('SIGSEGV');

  expect(errors).toMatchObject([{ kind: 'upstream_failed' }, { kind: 'upstream_failed' }]);
  expect(recogniser.send('pcm', 1, 1, new Int16Array(160))).toBe(false);
});

test('after crashes it is started again by itself, each time later; a recognised utterance forgives', async () => {
  const { clock, hosts, recogniser, start } = setUp();
  await start();
  const delaysMs: number[] = [];
  for (let crash = 0; crash < 4; crash++) {
    const count = hosts.length;
    if (crash === 3) await hosts.at(-1)?.say(final(1));
    hosts.at(-1)?.die('SIGSEGV');
    const diedMs = clock.nowMs();
    await expect(recogniser.start()).rejects.toMatchObject({ kind: 'unavailable' });
    while (hosts.length === count) await clock.advance(50);
    delaysMs.push(clock.nowMs() - diedMs);
    await start();
  }

  expect(delaysMs).toEqual([250, 500, 1_000, 250]);
});

test('a process that no longer reads gets no more than four megabytes', async () => {
  const { recogniser, start } = setUp();
  await start();
  const second = new Int16Array(16_000);

  const wasSent = Array.from({ length: 200 }, () => recogniser.send('pcm', 1, 1, second));

  expect(wasSent[0]).toBe(true);
  expect(wasSent.at(-1)).toBe(false);
  expect(wasSent.filter(Boolean).length).toBeLessThan(130);
});

test('a silent process is killed on request, a talking one is not', async () => {
  const { clock, recogniser, start } = setUp();
  const host = await start();
  await clock.advance(4_000);
  await host.say(final(1));
  await clock.advance(2_000);

  recogniser.killIfSilent(5_000);
  expect(host.signalCode).toBeNull();
  await clock.advance(3_000);
  recogniser.killIfSilent(5_000);
  expect(host.signalCode).toBe('SIGKILL');
});

test('closing ends its input, and kills it when that does not help within a second; it stays closed', async () => {
  const { clock, hosts, recogniser, start } = setUp();
  const host = await start();

  const closed = recogniser.close();
  expect(host.stdin.writableEnded).toBe(true);
  await clock.advance(1_000);
  await closed;
  await clock.advance(60_000);

  expect(host.signalCode).toBe('SIGKILL');
  expect(hosts).toHaveLength(1);
  await expect(recogniser.start()).rejects.toMatchObject({ kind: 'unavailable' });
});
