import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A server that a test started. */
interface ServerProcess {
  /** The first line it printed. */
  readonly firstLine: string;
  readonly child: ChildProcess;
  /** Closes its standard input, at which it ends by itself, and waits for that; after 3 s it is killed. */
  stop(): Promise<void>;
}

const STOP_LIMIT_MS = 3_000;

/**
 * Starts a program that prints a line when it is ready and ends when its standard input closes. Throws, with what
 * it printed to standard error, when it ends before or is not ready within `limitMs`; `hint` says how to install it.
 */
export async function startProcess(
  program: string,
  args: readonly string[],
  options: { limitMs: number; hint: string },
): Promise<ServerProcess> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-4_000);
  });
  const lines = createInterface({ input: child.stdout });
  const tooLate = AbortSignal.timeout(options.limitMs);
  const died = new Promise<never>((_, reject) => {
    child.once('error', (cause) =>
      reject(new Error(`can't start ${program}: ${cause.message}. ${options.hint}`, { cause })),
    );
    child.once('exit', (code) =>
      reject(new Error(`${program} ended with ${code}: ${complaints} ${options.hint}`)),
    );
  });
  died.catch(() => {});
  try {
    const [firstLine] = await Promise.race([once(lines, 'line', { signal: tooLate }), died]);
    return { firstLine: String(firstLine), child, stop: () => stop(child) };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  child.stdin?.end();
  await ended;
  clearTimeout(killer);
}
