import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { projectFile } from '../../shared/project-file.ts';
import { startControlPlane } from '../fakes/control-plane.ts';
import { rounds, runSchemathesis } from './schemathesis-run.ts';

const ROUND_LIMIT_MS = 15 * 60_000;

test.each(rounds)('schemathesis finds nothing: %s', { timeout: ROUND_LIMIT_MS }, async (round) => {
  const { code, output } = await runSchemathesis(round);

  expect(output).toMatch(/Test cases:\n {2}\d{3,} generated, \d{3,} passed/);
  expect(output).toContain('Seed: 20260302');
  expect(code, output.slice(-20_000)).toBe(0);
});

test('redocly finds nothing in the description', async () => {
  const plane = await startControlPlane();
  const directory = await mkdtemp(join(tmpdir(), 'parley-redocly-'));
  onTestFinished(async () => {
    await plane.stop();
    await rm(directory, { recursive: true });
  });
  const file = join(directory, 'openapi.json');
  await writeFile(file, JSON.stringify((await plane.call('GET', '/openapi.json')).body));

  const redocly = projectFile('node_modules/@redocly/cli/bin/cli.js');
  const config = projectFile('test/conformance/redocly.yaml');
  const args = [redocly, 'lint', file, '--config', config, '--format', 'json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' },
    cwd: directory,
    timeout: 120_000,
    maxBuffer: 16_000_000,
  });

  expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] });
});
