import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../../../shared/log.ts';
import { threadEntry } from '../../../../shared/thread-entry.ts';
import { systemClock } from '../../../../shared/time.ts';
import { FakeClock } from '../../../../test/fakes/fake-clock.ts';
import { EspeakEngine } from './espeak-engine.ts';
import { EspeakProcess } from './espeak-process.ts';

const JOB = { text: 'Hallo', voice: 'de', wordsPerMinute: 175 };

function launchHost(): ChildProcess {
  const { url, execArgv } = threadEntry(new URL('./espeak-process.ts', import.meta.url).href, 'espeak-host');
  return spawn(process.execPath, [...execArgv, fileURLToPath(url)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {},
  });
}

test('a process that was killed is started again for the next sentence', async () => {
  const clock = new FakeClock();
  const children: ChildProcess[] = [];
  const host = new EspeakProcess({
    clock,
    log: silentLogger,
    launch: () => {
      const child = launchHost();
      children.push(child);
      return child;
    },
  });
  onTestFinished(() => host.close());
  await host.speak(JOB);

  const dying = host.speak(JOB);
  children[0]?.kill('SIGKILL');
  await expect(dying).rejects.toMatchObject({ kind: 'upstream_failed' });
  await expect(host.speak(JOB)).rejects.toMatchObject({
    message: expect.stringContaining('try again later'),
  });
  await clock.advance(250);

  expect((await host.speak(JOB)).samples.length).toBeGreaterThan(5_000);
  expect(children).toHaveLength(2);
});

test('each crash in a row doubles the wait, up to 30 s', async () => {
  const clock = new FakeClock();
  let launches = 0;
  const host = new EspeakProcess({
    clock,
    log: silentLogger,
    launch: () => {
      launches++;
      return spawn(process.execPath, ['-e', 'process.exit(3)'], { stdio: ['pipe', 'pipe', 'ignore'] });
    },
  });
  onTestFinished(() => host.close());
  const tryOnce = () => expect(host.speak(JOB)).rejects.toMatchObject({ kind: 'upstream_failed' });

  await tryOnce();
  for (const waitMs of [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    const before = launches;
    await clock.advance(waitMs - 1);
    await tryOnce();
    expect(launches).toBe(before);
    await clock.advance(1);
    await tryOnce();
    expect(launches).toBe(before + 1);
  }
});

test('the process ends when its standard input closes', async () => {
  const child = launchHost();
  await new Promise((resolve) => child.stdout?.once('data', resolve));

  child.stdin?.end();
  const code = await new Promise((resolve) => child.once('exit', resolve));

  expect(code).toBe(0);
});

test('without the optional package no language is spoken, and the refusal names the package', async () => {
  const engine = new EspeakEngine({ clock: systemClock, log: silentLogger, isInstalled: () => false });
  const request = { text: 'Hallo', voice: null, language: 'de', speed: 1 };

  expect(engine.speaks('de')).toBe(false);
  await engine.prewarm();
  const speaking = async () => {
    for await (const _ of engine.synthesize(request, new AbortController().signal));
  };
  await expect(speaking()).rejects.toMatchObject({
    kind: 'unprocessable',
    message: expect.stringContaining('espeak-ng-emscripten is not installed'),
  });
});

test.each(['de', 'es', 'fr', 'it', 'ja', 'ko', 'nl', 'pt', 'zh', 'en'])(
  'there is a voice for %s',
  async (language) => {
    expect(new EspeakEngine({ clock: systemClock, log: silentLogger }).speaks(language)).toBe(true);
  },
);
