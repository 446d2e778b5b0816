import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { startProcess } from './server-process.ts';

const HINT = 'The tests on Redis need redis-server 7 (Debian: apt-get install redis-server).';
const START_LIMIT_MS = 5_000;
const MAX_PORT_TRIES = 3;

// Redis doesn't end with what started it, so a shell stands between: it prints the server's process id once that
// answers, waits for its own standard input to close, and takes the server along.
const SHELL = `
command -v redis-server >/dev/null || { echo "redis-server is not installed." >&2; exit 127; }
redis-server --port "$1" --bind 127.0.0.1 --save '' --appendonly no >&2 &
server=$!
until redis-cli -p "$1" ping >/dev/null 2>&1; do
  kill -0 $server 2>/dev/null || exit 1
  sleep 0.02
done
echo $server
cat >/dev/null
kill -KILL $server 2>/dev/null; wait $server 2>/dev/null
`;

export interface RedisTestServer {
  readonly url: string;
  readonly port: number;
  /** Ends it as a crash would. What it held is gone. */
  stop(): Promise<void>;
  /** Stops it from answering, its sockets staying open, until `resume`. */
  pause(): void;
  resume(): void;
}

/** A Redis on loopback, empty, without persistence; on a free port unless one is given. */
export async function startRedisServer(options: { port?: number } = {}): Promise<RedisTestServer> {
  for (let tries = 1; ; tries++) {
    try {
      return await startAt(options.port ?? (await freePort()));
    } catch (error) {
      // Somebody may have taken the port that was free.
      if (options.port !== undefined || tries === MAX_PORT_TRIES) throw error;
    }
  }
}

async function startAt(port: number): Promise<RedisTestServer> {
  const shell = await startProcess('sh', ['-c', SHELL, 'redis-test-server', String(port)], {
    limitMs: START_LIMIT_MS,
    hint: HINT,
  });
  const serverPid = Number(shell.firstLine);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    stop: shell.stop,
    pause: () => void process.kill(serverPid, 'SIGSTOP'),
    resume: () => void process.kill(serverPid, 'SIGCONT'),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
