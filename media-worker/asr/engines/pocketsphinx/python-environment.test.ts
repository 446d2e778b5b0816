import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { prepareRecogniser } from './python-environment.ts';

interface Pretence {
  readonly venv?: string;
  readonly pip?: string;
}

/** A program that behaves as Python does towards the preparation, writing each call to `calls`. */
function setUp({ venv = 'exit 0', pip = 'exit 0' }: Pretence = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'parley-python-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const python = join(dir, 'python3');
  const calls = join(dir, 'calls');
  writeFileSync(
    python,
    `#!/bin/sh
echo "$*" >> ${calls}
case "$2" in
  venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; ${venv};;
  pip) ${pip};;
esac
case "$1" in --version) echo Python 3.11.0;; esac
exit 0
`,
  );
  chmodSync(python, 0o755);
  const dataDir = join(dir, 'data');
  const lines: string[] = [];
  const prepare = (change: { python?: string; signal?: AbortSignal } = {}) =>
    prepareRecogniser({
      dataDir,
      python,
      onProgress: (line) => lines.push(line),
      signal: new AbortController().signal,
      ...change,
    });
  const calledTimes = (what: string) =>
    readFileSync(calls, 'utf8')
      .split('\n')
      .filter((line) => line.includes(what)).length;
  return { dataDir, lines, prepare, calledTimes };
}

test('the environment is made once, with progress, and used again in silence', async () => {
  const { dataDir, lines, prepare, calledTimes } = setUp();

  const first = await prepare();
  const saidFirst = lines.length;
  const second = await prepare();

  expect(first).toEqual({ pythonPath: join(dataDir, 'asr-venv', 'bin', 'python') });
  expect(saidFirst).toBeGreaterThan(2);
  expect(second).toEqual(first);
  expect(lines).toHaveLength(saidFirst);
  expect(calledTimes('-m venv')).toBe(1);
  expect(calledTimes('pocketsphinx==')).toBe(1);
  expect(readdirSync(dataDir)).toEqual(['asr-venv']);
});

test('without Python the reason says what to install', async () => {
  const { dataDir, prepare } = setUp();

  const prepared = await prepare({ python: '/nonexistent/python3' });

  expect(prepared).toMatchObject({ missing: expect.stringMatching(/no working Python 3.*Install Python 3/) });
  expect(readdirSync(dataDir)).toEqual([]);
});

test.each([
  [
    'venv',
    { venv: 'echo "ensurepip is not available" >&2; exit 1' },
    /venv module.*ensurepip is not available/,
  ],
  ['pip', { pip: 'echo "No space left" >&2; exit 1' }, /pip could not install.*No space left/],
])(
  'a failing %s is told with its last words, and nothing half-made stays',
  async (_tool, pretence, expected) => {
    const { dataDir, prepare } = setUp(pretence);

    expect(await prepare()).toMatchObject({ missing: expect.stringMatching(expected) });
    expect(readdirSync(dataDir)).toEqual([]);
  },
);

test('a preparation that is told to stop does so, and nothing half-made stays', async () => {
  const { dataDir, prepare } = setUp({ pip: 'sleep 60' });
  const stop = new AbortController();
  const startedMs = performance.now();
  const prepared = prepare({ signal: stop.signal });

  setTimeout(() => stop.abort(), 200);

  expect(await prepared).toMatchObject({ missing: expect.stringContaining('not done in time') });
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  expect(readdirSync(dataDir)).toEqual([]);
});

test('two that prepare at once both get a working environment', async () => {
  const { dataDir, prepare } = setUp({ pip: 'sleep 0.2' });

  const prepared = await Promise.all([prepare(), prepare()]);

  const expected = { pythonPath: join(dataDir, 'asr-venv', 'bin', 'python') };
  expect(prepared).toEqual([expected, expected]);
  expect(existsSync(expected.pythonPath)).toBe(true);
  expect(readdirSync(dataDir)).toEqual(['asr-venv']);
});

test('an environment that is broken or of another version is made anew', async () => {
  const { dataDir, prepare, calledTimes } = setUp();
  await prepare();
  rmSync(join(dataDir, 'asr-venv', 'bin'), { recursive: true });
  await prepare();
  writeFileSync(join(dataDir, 'asr-venv', 'parley.json'), '{"pocketsphinx":"0.0.1"}');

  const prepared = await prepare();

  expect(prepared).toHaveProperty('pythonPath');
  expect(calledTimes('-m venv')).toBe(3);
});

test('what a killed process has left is removed, what another is making stays', async () => {
  const { dataDir, prepare } = setUp();
  for (const name of ['asr-venv.draft-old', 'asr-venv.draft-new'])
    mkdirSync(join(dataDir, name), { recursive: true });
  utimesSync(join(dataDir, 'asr-venv.draft-old'), 1_000, 1_000);

  await prepare();

  expect(readdirSync(dataDir).sort()).toEqual(['asr-venv', 'asr-venv.draft-new']);
});
