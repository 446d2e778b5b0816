import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { projectFile } from '../../shared/project-file.ts';

const START_LIMIT_MS = 60_000;

/** The real control plane as a process of its own, from the source. Resolves when it is ready. */
export async function startControlPlaneProcess(env: Readonly<Record<string, string>>) {
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', 'tsx', projectFile('control-plane/main.ts')],
    { env: { ...process.env, PARLEY_STDIN_GUARD: '1', ...env }, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-4_000);
  });
  const ended = once(child, 'exit');
  const died = ended.then(([code]) => {
    throw new Error(`the control plane ended with ${code}: ${complaints}`);
  });
  died.catch(() => {});
  if (!child.stdout) throw new Error('no standard output');
  const lines = createInterface({ input: child.stdout });
  try {
    await Promise.race([once(lines, 'line', { signal: AbortSignal.timeout(START_LIMIT_MS) }), died]);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return {
    /** What it last wrote to standard error. */
    complaints: () => complaints,
    /** `kill -9`; resolves when it is gone. */
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
