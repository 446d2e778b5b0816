import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const MAX_OUTPUT_CHARS = 8_000;

/** What a run has said on both outputs (the end of it), and whether it ended with 0. */
export interface PythonRun {
  readonly isFine: boolean;
  readonly output: string;
}

/** Runs Python to its end; killed, with its children, when `signal` aborts. Never throws: a missing program is a failed run. */
export function runPython(
  command: string,
  args: readonly string[],
  signal: AbortSignal,
  onLine: (line: string) => void = () => {},
): Promise<PythonRun> {
  if (signal.aborted) return Promise.resolve({ isFine: false, output: '' });
  return new Promise((resolve) => {
    // A group of its own: pip starts others, which would go on alone.
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let output = '';
    const take = (line: string) => {
      output = `${output}${line}\n`.slice(-MAX_OUTPUT_CHARS);
      onLine(line);
    };
    createInterface({ input: child.stdout }).on('line', take);
    createInterface({ input: child.stderr }).on('line', take);
    const kill = () => {
      if (child.pid !== undefined) killGroup(child.pid);
    };
    signal.addEventListener('abort', kill, { once: true });
    const settle = (isFine: boolean, more: string) => {
      signal.removeEventListener('abort', kill);
      resolve({ isFine, output: output + more });
    };
    child.on('error', (error) => settle(false, error.message));
    child.on('close', (code) => settle(code === 0, ''));
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
