import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectFile } from '../shared/project-file.ts';
import { systemClock } from '../shared/time.ts';
import { type StartLine, startLines } from './start-line.ts';
import { StartFailed, SupervisedProcess } from './supervised-process.ts';

/**
 * All in one: a control plane and a worker as two processes on this machine, with the embedded store. Prints what a
 * newcomer needs when the first call is possible, starts a process again that died, and stops both on SIGINT, SIGTERM
 * or (for whoever starts it as a side process, with PARLEY_STDIN_GUARD=1) when its standard input closes.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean', default: false }, watch: { type: 'boolean', default: false } },
  });
  // Whoever starts it by hand wants the three lines below, not every worker that links.
  const env: Readonly<Record<string, string | undefined>> = { PARLEY_LOG_LEVEL: 'warn', ...process.env };
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const processes: SupervisedProcess[] = [];
  const stop = stopOnce(processes);
  process.on('SIGINT', () => stop(0));
  process.on('SIGTERM', () => stop(0));
  if (env['PARLEY_STDIN_GUARD'] === '1') process.stdin.on('end', () => stop(0)).resume();

  const launch = async (name: string, entry: string) => {
    const command = {
      name,
      env,
      clock: systemClock,
      say,
      command: process.execPath,
      args: entryArgs(entry, values.watch),
    };
    const launched = new SupervisedProcess(command);
    processes.push(launched);
    return launched.start();
  };

  try {
    const startedMs = systemClock.monotonicMs();
    const control = readReady(await launch('control plane', 'control-plane/main'));
    const worker = readReady(await launch('media worker', 'media-worker/main'));
    const line = readStartLine(control, env['PARLEY_DATA_DIR'] || 'data');
    if (values.json) process.stdout.write(`${JSON.stringify(line)}\n`);
    else
      process.stdout.write(
        startLines(line, {
          elapsedMs: systemClock.monotonicMs() - startedMs,
          recogniser: worker['recogniser'],
        }),
      );
  } catch (error) {
    // A process that did not start has said why itself.
    if (!(error instanceof StartFailed)) say(error instanceof Error ? error.message : String(error));
    stop(1);
  }
}

/** Stops the worker before the control plane, so that its last events are stored. */
function stopOnce(processes: readonly SupervisedProcess[]): (exitCode: number) => void {
  let isStopping = false;
  return (exitCode) => {
    if (isStopping) return;
    isStopping = true;
    void [...processes]
      .reverse()
      .reduce((before, each) => before.then(() => each.stop()), Promise.resolve())
      .finally(() => process.exit(exitCode));
  };
}

function entryArgs(entry: string, isWatched: boolean): string[] {
  if (!isWatched) return [projectFile(`dist/${entry}.js`)];
  return ['--import', 'tsx', '--watch', '--watch-preserve-output', projectFile(`${entry}.ts`)];
}

function readReady(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new Error('a process did not say that it is ready');
  return { ...value };
}

function readStartLine(ready: Record<string, unknown>, dataDir: string): StartLine {
  const baseUrl = String(ready['base_url']);
  const keyFile = join(dataDir, 'api-key.json');
  const account = existsSync(keyFile) ? JSON.parse(readFileSync(keyFile, 'utf8')) : {};
  return {
    base_url: baseUrl,
    console_url: `${baseUrl}/console`,
    api_key: account.api_key ?? null,
    workspace_id: account.workspace_id ?? null,
    user_id: account.user_id ?? null,
  };
}

void main();
