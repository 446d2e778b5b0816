import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SupervisedProcess } from '../../deploy/supervised-process.ts';
import { projectFile } from '../../shared/project-file.ts';
import { systemClock } from '../../shared/time.ts';
import { lendRecogniser } from './asr-environment.ts';

export interface Parley {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly dataDir: string;
  /** Process id of one of the two processes now; null while it is down. */
  pidOf(process: 'control-plane' | 'media-worker'): number | null;
  /** A call of the public API; answers status and parsed body. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  stop(): Promise<void>;
}

/** A free TCP port of loopback. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Starts the built service the way `npm start -- --json` does, on free ports and a data directory of its own. */
export async function startParley(env: Readonly<Record<string, string>> = {}): Promise<Parley> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-'));
  await lendRecogniser(dataDir);
  const [port, workerPort, grpcPort, adminPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const launcher = new SupervisedProcess({
    name: 'parley',
    command: process.execPath,
    args: [projectFile('dist/deploy/local.js'), '--json'],
    env: {
      ...process.env,
      PARLEY_DATA_DIR: dataDir,
      PARLEY_PORT: String(port),
      PARLEY_WORKER_PORT: String(workerPort),
      PARLEY_GRPC_ADDRESS: `127.0.0.1:${grpcPort}`,
      PARLEY_CONTROL_ADDRESSES: `127.0.0.1:${grpcPort}`,
      PARLEY_ADMIN_ADDRESS: `127.0.0.1:${adminPort}`,
      PARLEY_LOG_LEVEL: 'warn',
      ...env,
    },
    clock: systemClock,
    say: () => {},
  });
  const ready = readReady(await launcher.start());
  return {
    baseUrl: ready.base_url,
    apiKey: ready.api_key,
    workspaceId: ready.workspace_id,
    userId: ready.user_id,
    dataDir,
    pidOf: (process) => childPid(launcher.pid, `${process}/main.js`),
    call: (method, path, body) => call(ready, method, path, body),
    async stop() {
      await launcher.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The child of `parent` whose command line names `script`. */
function childPid(parent: number | null, script: string): number | null {
  const lines = execFileSync('ps', ['-e', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  for (const line of lines) {
    const [pid, ppid, ...args] = line.trim().split(/\s+/);
    if (Number(ppid) === parent && args.some((arg) => arg.endsWith(script))) return Number(pid);
  }
  return null;
}

interface Ready {
  readonly base_url: string;
  readonly api_key: string;
  readonly workspace_id: string;
  readonly user_id: string;
}

function readReady(value: unknown): Ready {
  const ready = value as Partial<Ready>;
  if (!ready.base_url || !ready.api_key || !ready.workspace_id || !ready.user_id)
    throw new Error(`not a start line: ${JSON.stringify(value)}`);
  return ready as Ready;
}

async function call(
  ready: Ready,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: unknown }> {
  const reply = await fetch(`${ready.base_url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${ready.api_key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await reply.text();
  return { status: reply.status, body: text === '' ? null : JSON.parse(text) };
}

/** Creates and publishes an agent; answers its id. */
export async function publishedAgent(parley: Parley, config: object): Promise<string> {
  const created = await parley.call('POST', '/v1/agent/agents', { name: 'Front desk', config });
  if (created.status !== 201) throw new Error(`agent: ${created.status} ${JSON.stringify(created.body)}`);
  const agentId = (created.body as { agent_id: string }).agent_id;
  const published = await parley.call('POST', `/v1/agent/agents/${agentId}/publish`);
  if (published.status !== 200)
    throw new Error(`publish: ${published.status} ${JSON.stringify(published.body)}`);
  return agentId;
}

export interface SessionToken {
  readonly session_id: string;
  readonly rtc_url: string;
  readonly token: string;
}

export async function startSession(
  parley: Parley,
  agentId: string,
  more: object = {},
): Promise<SessionToken> {
  const created = await parley.call('POST', '/v1/agent/sessions', { agent_id: agentId, ...more });
  if (created.status !== 201) throw new Error(`session: ${created.status} ${JSON.stringify(created.body)}`);
  return created.body as SessionToken;
}

export interface SessionDetail {
  readonly status: string;
  readonly end_reason: string | null;
  readonly duration_seconds: number | null;
  readonly items: readonly {
    type: string;
    role?: string;
    content?: string;
    turn_id?: number;
    interrupted?: boolean;
    created_at?: string;
  }[];
}

export async function sessionDetail(parley: Parley, sessionId: string): Promise<SessionDetail> {
  const reply = await parley.call('GET', `/v1/agent/sessions/${sessionId}`);
  if (reply.status !== 200) throw new Error(`detail: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body as SessionDetail;
}
