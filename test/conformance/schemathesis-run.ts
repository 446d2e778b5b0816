import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectFile } from '../../shared/project-file.ts';
import { startEveryRoute } from '../api/every-route-setup.ts';
import { FakeWorker } from '../fakes/fake-worker.ts';
import { eventually } from '../support/eventually.ts';
import { pythonWith } from '../support/python-venv.ts';

const REQUIREMENT = 'schemathesis==4.32.5';
const BEAT_MS = 1_000;

/**
 * Operations that delete run by themselves, since they would take away what the others are tried on; in the stateful
 * phase every scenario makes its own resources.
 */
const ROUNDS = {
  'every operation but the deleting ones': {
    args: ['--phases', 'examples,coverage,fuzzing', '--exclude-method', 'DELETE'],
    hasFixedIds: true,
  },
  'the deleting operations': {
    args: ['--phases', 'examples,coverage,fuzzing', '--include-method', 'DELETE'],
    hasFixedIds: true,
  },
  'scenarios of several operations': { args: ['--phases', 'stateful'], hasFixedIds: false },
} as const;
export type Round = keyof typeof ROUNDS;
export const rounds = Object.keys(ROUNDS) as Round[];

/** Runs a round of `schemathesis.toml` on a real server; answers how it ended and what it printed. */
export async function runSchemathesis(round: Round, extraArgs: readonly string[] = []) {
  const python = await pythonWith('schemathesis', REQUIREMENT);
  const directory = await mkdtemp(join(tmpdir(), 'parley-schemathesis-'));
  const subject = await startSubject();
  try {
    const { args, hasFixedIds } = ROUNDS[round];
    const config = join(directory, 'schemathesis.toml');
    await writeFile(config, await configFor(subject.values, hasFixedIds));
    const url = `${subject.baseUrl}/openapi.json`;
    const program = join(dirname(python), 'schemathesis');
    return await output(program, ['--config-file', config, 'run', url, ...args, ...extraArgs], directory);
  } finally {
    await subject.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** The control plane with one of each resource and a worker that takes every session. No host name resolves. */
async function startSubject() {
  const api = await startEveryRoute({
    resolveHost: async () => {
      throw new Error('no host name resolves here');
    },
    env: {
      PARLEY_PUBLIC_SESSIONS_PER_IP_MINUTE: '100000',
      PARLEY_PUBLIC_SESSIONS_PER_AGENT_MINUTE: '100000',
    },
  });
  const worker = new FakeWorker(api.addresses.grpcPort, { capacity: 100_000 });
  await eventually('the worker is linked', 5_000, () => worker.heardOf('welcome')[0] ?? null);
  const beats = setInterval(() => worker.beat(), BEAT_MS);
  await api.app.accounts.charging.addCredit(api.account.userId, 1_000_000_000, 'plenty');
  const own = await api.makeOneOfEach();
  return {
    baseUrl: api.baseUrl,
    values: {
      PARLEY_KEY: api.account.apiKey,
      ...Object.fromEntries(Object.entries(own).map(([name, id]) => [name.toUpperCase(), id])),
    } as Readonly<Record<string, string>>,
    stop: async () => {
      clearInterval(beats);
      worker.close();
      await api.stop();
    },
  };
}

/** Settings of single operations that scenarios do without: fixed ids and the statuses that go with them. */
const OF_ONE_OPERATION = /^(parameters = \{ "path\.|checks\.).*$/gm;

async function configFor(values: Readonly<Record<string, string>>, hasFixedIds: boolean): Promise<string> {
  const text = await readFile(projectFile('test/conformance/schemathesis.toml'), 'utf8');
  const filled = text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`schemathesis.toml: nothing is called ${name}`);
    return value;
  });
  // A block must set something: without its own it repeats what holds for all.
  return hasFixedIds ? filled : filled.replaceAll(OF_ONE_OPERATION, 'continue-on-failure = true');
}

async function output(program: string, args: readonly string[], cwd: string) {
  const child = spawn(program, args, {
    env: {
      ...process.env,
      NO_COLOR: '1',
      // Where its hooks lie.
      PYTHONPATH: projectFile('test/conformance'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  child.stderr.on('data', (piece: Buffer) => pieces.push(piece));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: Buffer.concat(pieces).toString('utf8') };
}
