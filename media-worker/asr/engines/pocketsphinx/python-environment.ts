import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runPython } from './run-python.ts';

/** The version that the decoder's settings were measured with. */
const POCKETSPHINX_VERSION = '5.1.1';
const DIRECTORY = 'asr-venv';
const MARKER = 'parley.json';
const CHECK_DEADLINE_MS = 20_000;
const PREPARE_DEADLINE_MS = 120_000;
const DRAFT_PREFIX = `${DIRECTORY}.draft-`;
/** A draft this much older than a new one has no maker any more. */
const ABANDONED_AFTER_MS = 5 * PREPARE_DEADLINE_MS;

export interface PrepareRecogniserOptions {
  readonly dataDir: string;
  /** The Python 3 to make the environment with: a command or a path. */
  readonly python: string;
  /** Lines for the person who waits. Called only when something has to be made. */
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}

/** `missing` is a sentence for people: why there is no recogniser and what would help. */
export type PreparedRecogniser = { readonly pythonPath: string } | { readonly missing: string };

/**
 * A Python with PocketSphinx and its English model, in `asr-venv` of the data directory: made there with Python's
 * own venv and pip when it is missing or does not work, else used as it is. It appears there whole or not at all;
 * several processes may prepare at once. Never throws.
 */
export async function prepareRecogniser(options: PrepareRecogniserOptions): Promise<PreparedRecogniser> {
  const venv = resolve(options.dataDir, DIRECTORY);
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(PREPARE_DEADLINE_MS)]);
  try {
    if (await isUsable(venv, signal)) return { pythonPath: pythonOf(venv) };
    await mkdir(options.dataDir, { recursive: true });
    const draft = await mkdtemp(resolve(options.dataDir, DRAFT_PREFIX));
    try {
      await removeAbandonedDrafts(options.dataDir, draft);
      const refusal = await make(draft, options, signal);
      if (refusal !== null) return { missing: refusal };
      await takeThePlace(draft, venv, signal);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    options.onProgress('The speech recogniser is ready');
    return { pythonPath: pythonOf(venv) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { missing: `The speech recogniser could not be prepared in ${venv}: ${why}` };
  }
}

/** Makes the environment in `draft`; answers why it can't. */
async function make(
  draft: string,
  { python, onProgress }: PrepareRecogniserOptions,
  signal: AbortSignal,
): Promise<string | null> {
  onProgress('Preparing the speech recogniser, on the first start only');
  const version = await runPython(python, ['--version'], signal);
  if (!version.isFine)
    return `There is no working Python 3 at "${python}", so speech is not understood. Install Python 3 with its venv and pip, or name one in PARLEY_PYTHON.`;
  onProgress(`  1 of 2: a Python environment (${version.output.trim()})`);
  const made = await runPython(python, ['-m', 'venv', draft], signal);
  if (!made.isFine)
    return failed('Python could not make a virtual environment; is its venv module installed?', made, signal);
  onProgress(`  2 of 2: PocketSphinx ${POCKETSPHINX_VERSION} with its English model (about 30 MB)`);
  // Its only dependency opens sound cards, which a server doesn't.
  const installed = await runPython(
    pythonOf(draft),
    [
      ...['-m', 'pip', 'install', '--no-deps', '--no-input', '--disable-pip-version-check'],
      ...['--progress-bar', 'off', `pocketsphinx==${POCKETSPHINX_VERSION}`],
    ],
    signal,
    (line) => {
      const step = /^\s*(Downloading|Building|Installing)\b/.exec(line)?.[1];
      if (step) onProgress(`    ${step.toLowerCase()} …`);
    },
  );
  if (!installed.isFine) return failed('pip could not install PocketSphinx', installed, signal);
  await writeFile(join(draft, MARKER), JSON.stringify({ pocketsphinx: POCKETSPHINX_VERSION }));
  return null;
}

function failed(what: string, { output }: { readonly output: string }, signal: AbortSignal): string {
  if (signal.aborted)
    return `${what}: it was not done in time. Speech is not understood until the next start.`;
  const lastLine = output.trimEnd().split('\n').at(-1) ?? '';
  return `${what}: ${lastLine.slice(0, 300)}`;
}

/** Whether the environment is of this version and its Python still runs: an upgrade of Python breaks it. */
async function isUsable(venv: string, signal: AbortSignal): Promise<boolean> {
  const marker = await readFile(join(venv, MARKER), 'utf8').catch(() => '');
  if (!marker.includes(`"${POCKETSPHINX_VERSION}"`)) return false;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(CHECK_DEADLINE_MS)]);
  return (await runPython(pythonOf(venv), ['-c', 'import pocketsphinx'], deadline)).isFine;
}

/** Moves the draft to its place, unless another process was first. */
async function takeThePlace(draft: string, venv: string, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const isMoved = await rename(draft, venv).then(
      () => true,
      () => false,
    );
    if (isMoved || (await isUsable(venv, signal))) return;
    await rm(venv, { recursive: true, force: true });
  }
  throw new Error('its directory is in use');
}

/** Removes what killed processes have left. */
async function removeAbandonedDrafts(dataDir: string, newest: string): Promise<void> {
  const newestMs = (await stat(newest)).mtimeMs;
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(DRAFT_PREFIX)) continue;
    const draft = join(dataDir, name);
    const madeMs = await stat(draft).then(
      ({ mtimeMs }) => mtimeMs,
      () => newestMs,
    );
    if (newestMs - madeMs > ABANDONED_AFTER_MS) await rm(draft, { recursive: true, force: true });
  }
}

function pythonOf(venv: string): string {
  return process.platform === 'win32' ? join(venv, 'Scripts', 'python.exe') : join(venv, 'bin', 'python');
}
