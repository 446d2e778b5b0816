import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { projectFile } from '../../shared/project-file.ts';

function newDataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'parley-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

interface Running {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly ended: Promise<number | null>;
}

/** Runs one of the programs from its source. */
function run(program: string, args: readonly string[], env: Record<string, string>): Running {
  const child = spawn(process.execPath, ['--import', 'tsx', projectFile(program), ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  child.stdin.on('error', () => {});
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, output, ended };
}

const onFreePorts = {
  PARLEY_PORT: '0',
  PARLEY_GRPC_ADDRESS: '127.0.0.1:0',
  PARLEY_ADMIN_ADDRESS: '127.0.0.1:0',
};

const start = (env: Record<string, string>) => run('control-plane/main.ts', [], { ...onFreePorts, ...env });

async function ready(running: Running): Promise<{ base_url: string }> {
  if (!running.child.stdout) throw new Error('no standard output');
  const [line] = await Promise.race([
    once(createInterface({ input: running.child.stdout }), 'line'),
    running.ended.then(() => {
      throw new Error(running.output.stderr);
    }),
  ]);
  return JSON.parse(line);
}

test('it prints one JSON line when it is ready, serves, and ends on SIGTERM with 0', async () => {
  const dataDir = newDataDir();
  const running = start({ PARLEY_DATA_DIR: dataDir });

  const { base_url } = await ready(running);
  const { api_key } = JSON.parse(readFileSync(join(dataDir, 'api-key.json'), 'utf8'));
  const reply = await fetch(`${base_url}/wallet/self/api-credit`, {
    headers: { authorization: `Bearer ${api_key}` },
  });
  expect(await reply.json()).toMatchObject({ credit: '100.00' });
  running.child.kill('SIGTERM');

  expect(await running.ended).toBe(0);
  expect(running.output.stdout.trim().split('\n')).toHaveLength(1);
});

test('with the guard on it ends when its standard input closes', async () => {
  const running = start({ PARLEY_DATA_DIR: newDataDir(), PARLEY_STDIN_GUARD: '1' });
  await ready(running);

  running.child.stdin?.end();

  expect(await running.ended).toBe(0);
});

test('a taken port is one clear line and exit code 1', async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    holder.close();
  });
  const address = holder.address();
  const port = typeof address === 'object' && address ? address.port : 0;

  const api = start({ PARLEY_DATA_DIR: newDataDir(), PARLEY_PORT: String(port) });
  const grpc = start({ PARLEY_DATA_DIR: newDataDir(), PARLEY_GRPC_ADDRESS: `127.0.0.1:${port}` });

  expect(await api.ended).toBe(1);
  expect(api.output.stderr).toBe(`127.0.0.1:${port} is already in use; choose another with PARLEY_PORT\n`);
  expect(api.output.stdout).toBe('');
  expect(await grpc.ended).toBe(1);
  expect(grpc.output.stderr).toContain(
    `127.0.0.1:${port} is already in use; choose another with PARLEY_GRPC_ADDRESS`,
  );
});

test('unusable settings are all named at once, and nothing is made', async () => {
  const dataDir = newDataDir();
  const running = start({
    PARLEY_DATA_DIR: join(dataDir, 'x'),
    PARLEY_PORT: 'abc',
    PARLEY_LOG_LEVEL: 'loud',
    PARLEY_TYPO: '1',
  });

  expect(await running.ended).toBe(1);
  for (const name of ['PARLEY_PORT', 'PARLEY_LOG_LEVEL', 'PARLEY_TYPO'])
    expect(running.output.stderr).toContain(name);
  expect(() => readFileSync(join(dataDir, 'x', 'secret-key'))).toThrow();
});

test('half a TLS setting stops the start', async () => {
  const dataDir = newDataDir();
  const cert = join(dataDir, 'cert.pem');
  writeFileSync(cert, '');
  const running = start({ PARLEY_DATA_DIR: dataDir, PARLEY_TLS_CERT: cert });

  expect(await running.ended).toBe(1);
  expect(running.output.stderr).toContain('give both or neither');
});

test('the administrator’s command line makes an account that a server on the same store takes, also while it runs', async () => {
  const env = { PARLEY_DATA_DIR: newDataDir() };
  const { base_url } = await ready(start(env));
  const admin = async (...words: string[]) => {
    const running = run('control-plane/admin/main.ts', [...words, '--json'], env);
    expect(await running.ended, running.output.stderr).toBe(0);
    return JSON.parse(running.output.stdout);
  };

  const { user_id } = await admin('user', 'create', 'Ann');
  const { workspace_id } = await admin('workspace', 'create', 'Team', '--owner', user_id);
  const { api_key } = await admin('key', 'create', '--workspace', workspace_id, '--user', user_id);
  const { credit } = await admin('credit', 'add', user_id, '2.5');
  const reply = await fetch(`${base_url}/wallet/self/api-credit`, {
    headers: { authorization: `Bearer ${api_key}` },
  });

  expect(credit).toBe('2.50');
  expect(await reply.json()).toMatchObject({ user_id, credit: '2.50' });
});

test('a command line that can’t be understood is exit code 2 and how to write it', async () => {
  const running = run('control-plane/admin/main.ts', ['user', 'create'], { PARLEY_DATA_DIR: newDataDir() });

  expect(await running.ended).toBe(2);
  expect(running.output.stderr).toBe('Usage: npm run admin -- user create <name> [--json]\n');
  expect(running.output.stdout).toBe('');
});
